// Safety: the caller's function and what it gave for it are used as long as the store tells events, for which the caller keeps them, as
// esker.h says. The event and its text are lent for the call.

import CEsker
import EskerLog

/// A function of the caller's that is told events, and what it is passed.
///
/// Safety: sending it is safe, as it is called by one thread at a time, and what the pointer leads to is the caller's affair.
@safe
struct EventHandler: @unchecked Sendable {
  private let function: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<esker_event>?) -> Void
  private let context: UnsafeMutableRawPointer?

  /// What calls the function; nil without one.
  static func handler(
    _ function: esker_event_handler?,
    _ context: UnsafeMutableRawPointer?
  ) throws -> (@Sendable (StoreEvent) -> Void)? {
    guard let function = unsafe function else {
      guard unsafe context == nil else { throw CallFailure.invalid("event_context is given without on_event") }
      return nil
    }
    let handler = unsafe EventHandler(function: function, context: context)
    return { event in handler.tell(event) }
  }

  private func tell(_ event: StoreEvent) {
    var described = unsafe event.described
    unsafe described.size = unsafe MemoryLayout<esker_event>.size
    unsafe event.text.withCString { text in
      unsafe described.text = text
      unsafe function(context, &described)
    }
  }
}

extension StoreEvent {
  /// Everything but the text and the size.
  fileprivate var described: esker_event {
    var event = unsafe esker_event()
    func number(_ kind: esker_event_kind) { unsafe event.kind = Int32(bitPattern: kind.rawValue) }
    switch self {
    case .opened(let report):
      number(ESKER_EVENT_OPENED)
      unsafe event.records = UInt64(report.keys)
      unsafe event.sequence = report.lastSequence.rawValue
      unsafe event.duration_ns = report.duration.nanoseconds
    case .cut(let cut):
      number(ESKER_EVENT_CUT)
      unsafe event.sequence = cut.sequence.rawValue
      unsafe event.segment = cut.segment
      unsafe event.records = UInt64(cut.records)
      unsafe event.bytes = UInt64(cut.bytes)
    case .damaged(let location, _):
      number(ESKER_EVENT_DAMAGED)
      unsafe event.segment = location.segment ?? 0
    case .segmentSealed(let id, let bytes, let records):
      number(ESKER_EVENT_SEGMENT_SEALED)
      unsafe event.segment = id
      unsafe event.bytes = UInt64(bytes)
      unsafe event.records = UInt64(records)
    case .mergeBegan(let segments):
      number(ESKER_EVENT_MERGE_BEGAN)
      unsafe event.records = UInt64(segments.count)
    case .mergeEnded(let report, let duration):
      number(ESKER_EVENT_MERGE_ENDED)
      unsafe event.bytes = UInt64(clamping: report.bytesFreed)
      unsafe event.records = UInt64(report.recordsEvicted)
      unsafe event.duration_ns = duration.nanoseconds
    case .erased(let report, let duration):
      number(ESKER_EVENT_ERASED)
      unsafe event.sequence = report.through.rawValue
      unsafe event.bytes = UInt64(clamping: report.merged.bytesFreed)
      unsafe event.duration_ns = duration.nanoseconds
    case .evicted(let records, let bytes):
      number(ESKER_EVENT_EVICTED)
      unsafe event.records = UInt64(records)
      unsafe event.bytes = UInt64(bytes)
    case .checkpointWritten(let sequence, let bytes):
      number(ESKER_EVENT_CHECKPOINT)
      unsafe event.sequence = sequence.rawValue
      unsafe event.bytes = UInt64(bytes)
    case .syncFailed(let code):
      number(ESKER_EVENT_SYNC_FAILED)
      unsafe event.error_number = code
    case .backgroundFailure(_, let error):
      number(ESKER_EVENT_BACKGROUND_FAILURE)
      unsafe event.error_number = error.errorNumber
    case .clockJumped(let duration):
      number(ESKER_EVENT_CLOCK_JUMPED)
      unsafe event.duration_ns = duration.nanoseconds
    case .closed: number(ESKER_EVENT_CLOSED)
    }
    return unsafe event
  }

  /// One line of English.
  fileprivate var text: String {
    switch self {
    case .opened(let report): "opened, with \(report.keys) keys" + (report.wasClean ? "" : ", after a crash")
    case .cut(let cut):
      "\(cut.records) records behind a hole that a crash had left are lost, from write \(cut.sequence.rawValue) on"
    case .damaged(let location, let reason): "\(StoreError.damaged(location, reason: reason))"
    case .segmentSealed(let id, let bytes, let records): "segment \(id) is full: \(records) records, \(bytes) bytes"
    case .mergeBegan(let segments): "a merge of \(segments.count) segments begins"
    case .mergeEnded(let report, _): "a merge has reclaimed \(report.bytesFreed) bytes"
    case .erased(let report, _): "what was dead at write \(report.through.rawValue) is erased"
    case .evicted(let records, let bytes): "\(records) records of \(bytes) bytes were evicted"
    case .checkpointWritten(let sequence, let bytes): "a checkpoint of \(bytes) bytes, up to write \(sequence.rawValue)"
    case .syncFailed(let code): "\(StoreError.syncFailed(errno: code))"
    case .backgroundFailure(let operation, let error): "\(operation) failed and will be retried: \(error)"
    case .clockJumped(let duration): "the clock jumped ahead by \(duration)"
    case .closed: "closed"
    }
  }
}

extension Duration {
  /// As far as 64 bits go.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLong ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
  }
}
