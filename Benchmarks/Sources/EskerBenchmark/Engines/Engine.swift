/// One thread's access to a store: the calls that are measured, and nothing else. Bytes are read from and copied to the
/// caller's buffers.
protocol Session {
  func put(_ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer) throws
  /// Copies a value out; returns its length, or nil if there is none.
  func get(_ key: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) throws -> Int?
  /// Copies the values of several keys out, value i to `stride * i`, using the engine's multi-get if it has one.
  func get(_ window: KeyWindow, into buffer: UnsafeMutableRawBufferPointer, stride: Int) throws -> Tally
  /// Copies the values of up to `count` entries out, in the order of their keys, from the first that is not less than `key`.
  func scan(
    from key: UnsafeRawBufferPointer,
    _ count: Int,
    into buffer: UnsafeMutableRawBufferPointer,
    stride: Int
  ) throws -> Tally
  func remove(_ key: UnsafeRawBufferPointer) throws
  /// Commits the rest of a batch; the session must not be used afterwards.
  func end() throws
}

/// An open store.
protocol Engine {
  associatedtype ThreadSession: Session
  func session() throws -> ThreadSession
  /// Finishes background work, so that none runs during the next measurement.
  func settle() throws
  func close() throws
}

/// The keys for one call.
struct KeyWindow {
  /// The keys' bytes, contiguous.
  var base: UnsafeMutablePointer<UInt8>
  var keys: [UnsafeRawBufferPointer]
}
