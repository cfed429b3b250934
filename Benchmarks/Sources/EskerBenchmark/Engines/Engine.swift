/// One thread's way into a store: the calls that are measured, and nothing else. Bytes come from the caller's buffers and go to them.
protocol Session {
  func put(_ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer) throws
  /// Copies a value out; its length, or nil when there is none.
  func get(_ key: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) throws -> Int?
  /// Copies the values of several keys out, value i to `stride * i`, with whatever the engine has for that.
  func get(_ window: KeyWindow, into buffer: UnsafeMutableRawBufferPointer, stride: Int) throws -> Tally
  func remove(_ key: UnsafeRawBufferPointer) throws
  /// Commits what is left of a batch; the session must not be used after.
  func end() throws
}

/// An open store.
protocol Engine {
  associatedtype ThreadSession: Session
  func session() throws -> ThreadSession
  /// Leaves nothing to be done in the background during what is measured next.
  func settle() throws
  func close() throws
}

/// Keys for one call.
struct KeyWindow {
  /// Where they lie, one after the other.
  var base: UnsafeMutablePointer<UInt8>
  var keys: [UnsafeRawBufferPointer]
}
