/// One thread's access to a store: the calls that are measured, and nothing else. Bytes are read from and copied to the
/// caller's buffers.
protocol Session {
  func put(_ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer) throws
  /// Copies a value out; returns its length, or nil if there is none.
  func get(_ key: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) throws -> Int?
  /// Copies the values of several keys out, value i to `stride * i`, using the engine's multi-get if it has one.
  func get(_ window: KeyWindow, into buffer: UnsafeMutableRawBufferPointer, stride: Int) throws -> Tally
  func remove(_ key: UnsafeRawBufferPointer) throws
  /// Copies the values or keys of a range out in the order of the keys, each `stride` after the one before, and to the beginning
  /// again when the buffer is full.
  func scan(_ range: ScanRange, into buffer: UnsafeMutableRawBufferPointer, stride: Int) throws -> Tally
  /// Removes the entry with the least key and copies its value out; returns the value's length, or nil if there is none.
  func takeFirst(into buffer: UnsafeMutableRawBufferPointer) throws -> Int?
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

/// The entries that a scan reads.
struct ScanRange {
  /// The first key, or where it would be.
  var start = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Whether only keys that begin with `start` are meant.
  var isPrefix = false
  /// How many at most.
  var limit = Int.max
  /// Whether keys are read, and no values.
  var isOfKeys = false
}

/// The keys for one call.
struct KeyWindow {
  /// The keys' bytes, contiguous.
  var base: UnsafeMutablePointer<UInt8>
  var keys: [UnsafeRawBufferPointer]
}
