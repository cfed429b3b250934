// Safety: a value lends its bytes only while `body` runs, and `withBytes` keeps the value that long; the memory of an
// `UnsafeRawBufferPointer` is kept by the caller. `bytes` is unsafe only where elements have padding, and a byte has
// none.

/// Anything that lends its bytes as one contiguous run, to be used as a key or a value.
///
/// The engine reads the bytes during the call and keeps no reference to them.
public protocol ByteSource: ~Copyable, ~Escapable {
  /// Calls `body` with the bytes, which are valid only until it returns.
  borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R
}

extension ByteSource where Self: ~Copyable & ~Escapable {
  /// A copy of the bytes.
  var copiedBytes: [UInt8] { withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } } }
}

extension [UInt8]: ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // The same storage: an array itself has a span only from macOS 26 and iOS 26 on.
    let bytes = ContiguousArray(self)
    return unsafe try body(bytes.span.bytes)
  }
}

extension ArraySlice<UInt8>: ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    unsafe try body(span.bytes)
  }
}

extension ContiguousArray<UInt8>: ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    unsafe try body(span.bytes)
  }
}

extension RawSpan: ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(self)
  }
}

extension Span<UInt8>: ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    unsafe try body(bytes)
  }
}

extension UnsafeRawBufferPointer: @unsafe ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try unsafe body(bytes)
  }
}

// A string's bytes are its UTF-8. Native strings lend them in place; a bridged one is copied once, because `UTF8View`
// does not have a `span` on every system that Esker supports.

extension String: ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try utf8.withBytes(body)
  }
}

extension Substring: ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try utf8.withBytes(body)
  }
}

extension String.UTF8View: ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try lendBytes(of: self, to: body)
  }
}

extension Substring.UTF8View: ByteSource {
  /// Lends the bytes in place.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try lendBytes(of: self, to: body)
  }
}

/// Lends the storage of `bytes` if it is contiguous, and a copy otherwise.
///
/// The standard library's accessor is not generic over the error, so the outcome is passed as a value.
@inlinable
func lendBytes<C: Collection<UInt8>, R: ~Copyable, E: Error>(
  of bytes: C,
  to body: (RawSpan) throws(E) -> R
) throws(E) -> R {
  var outcome: NoncopyableResult<R, E>?
  let lent: Void? = bytes.withContiguousStorageIfAvailable { (buffer) -> Void in
    outcome = NoncopyableResult { () throws(E) -> R in try unsafe body(UnsafeRawBufferPointer(buffer).bytes) }
  }
  if lent == nil {
    return try [UInt8](bytes).withBytes(body)
  }
  guard let outcome = outcome.take() else {
    return try [UInt8](bytes).withBytes(body)
  }
  return try outcome.get()
}

/// A `Result` for a value that cannot be copied.
@usableFromInline
enum NoncopyableResult<Success: ~Copyable, Failure: Error>: ~Copyable {
  case success(Success)
  case failure(Failure)

  @inlinable
  init(_ body: () throws(Failure) -> Success) {
    do throws(Failure) {
      self = .success(try body())
    } catch {
      self = .failure(error)
    }
  }

  @inlinable
  consuming func get() throws(Failure) -> Success {
    switch consume self {
    case .success(let value): return value
    case .failure(let error): throw error
    }
  }
}
