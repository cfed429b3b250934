// Safety: a handle's object is used only between entering and leaving the handle, which keep it. Messages are lent while they are copied.

import CEsker
import EskerLog

/// An object that handles of one kind lead to.
protocol HandleObject: AnyObject, Sendable {
  static var kind: esker_handle_kind { get }
}

/// Runs a call on what a handle leads to. An error becomes a status, and the thread's last failure.
@inline(__always)
func calling<Object: HandleObject>(
  _ handle: OpaquePointer?,
  _ type: Object.Type,
  _ body: (Object) throws -> esker_status
) -> esker_status {
  let handle = unsafe UnsafeRawPointer(handle)
  guard let handle = unsafe handle, let object = unsafe esker_handle_enter(handle, Object.kind) else {
    return noting(CallFailure.handle(Object.kind))
  }
  defer { unsafe leave(handle) }
  do {
    return try unsafe Unmanaged<Object>.fromOpaque(object)._withUnsafeGuaranteedRef { object in try body(object) }
  } catch {
    return noting(error)
  }
}

/// Runs a call that needs no handle.
func calling(_ body: () throws -> esker_status) -> esker_status {
  do { return try body() } catch { return noting(error) }
}

/// Ends a handle; null is ignored. `body` does what there is to do besides.
func closing<Object: HandleObject>(
  _ handle: OpaquePointer?,
  _ type: Object.Type,
  _ body: (Object) throws -> Void = { _ in }
) -> esker_status {
  guard let handle = unsafe UnsafeRawPointer(handle) else { return ESKER_OK }
  guard let object = unsafe esker_handle_end(handle, Object.kind) else {
    return noting(CallFailure.handle(Object.kind))
  }
  defer { unsafe leave(handle) }
  do {
    try unsafe Unmanaged<Object>.fromOpaque(object)._withUnsafeGuaranteedRef { object in try body(object) }
    return ESKER_OK
  } catch {
    return noting(error)
  }
}

/// Leaves a handle, and releases its object if it was ended and nobody uses it any more.
///
/// Safety: whoever makes a handle gives it a reference, which the last one to leave gets back.
@inline(__always)
private func leave(_ handle: UnsafeRawPointer) {
  if let object = unsafe esker_handle_leave(handle) { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
}

/// Passes an object to the caller as a new handle.
func handOut<Object: HandleObject>(
  _ object: Object,
  _ result: UnsafeMutablePointer<OpaquePointer?>
) throws -> esker_status {
  let reference = unsafe Unmanaged.passRetained(object)
  guard let handle = unsafe esker_handle_make(Object.kind, reference.toOpaque()) else {
    unsafe reference.release()
    throw CallFailure.noMemory
  }
  unsafe result.pointee = OpaquePointer(handle)
  return ESKER_OK
}

/// The status that stands for an error. A failure is noted as the thread's last one; an answer is not.
@inline(never)
func noting(_ error: any Error) -> esker_status {
  let (status, number, text) =
    switch error {
    case let failure as CallFailure: (failure.status, Int32(0), failure.message)
    case let error as StoreError: (error.status, error.errorNumber, "\(error)")
    default: (ESKER_ERROR_SYSTEM, Int32(0), "\(error)")
    }
  guard status.rawValue >= ESKER_ERROR_INVALID_ARGUMENT.rawValue else { return status }
  var message = text
  message.withUTF8 { bytes in
    // A message is never empty.
    unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
      if let start = bytes.baseAddress { unsafe esker_failure_note(start, bytes.count, number) }
    }
  }
  return status
}
