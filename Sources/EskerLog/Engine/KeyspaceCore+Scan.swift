internal import EskerPlatform

// Safety: the keys of a batch lie in its array, which does not change while they are lent. Values of a window are valid until the next one
// is asked for, which is after `body` has returned; the window is closed last.
extension KeyspaceCore {
  /// The most keys that are taken at once, and those that are taken first if nobody knows how many are wanted.
  private static var mostKeys: Int { 128 }
  private static var firstKeys: Int { KeyWindow.capacity }

  /// Calls `body` with each entry of a range, in order, until it returns false or there were enough.
  ///
  /// Keys are taken from the order some at a time, and then looked up in the index: a key that is there all the time is seen once,
  /// with a value that it had meanwhile. Without a lock, but pinned, while `body` runs.
  func scan(
    _ range: KeyRange,
    _ direction: KeyRange.Direction,
    limit: Int,
    _ body: (UnsafeRawBufferPointer, FoundEntry) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var left = limit
    try scanKeys(range, direction, limit: limit) { (keys, window) throws(StoreError) in
      try unsafe keys.forEach { (position, key) throws(StoreError) in
        guard let entry = try unsafe entry(of: key, at: position, in: &window) else { return true }
        left -= 1
        return try unsafe body(key, entry) && left > 0
      }
    }
  }

  /// Calls `body` with each key of a range that has a value, in order, until it returns false or there were enough.
  func scanKeys(
    _ range: KeyRange,
    _ direction: KeyRange.Direction,
    limit: Int,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var left = limit
    try scanKeys(range, direction, limit: limit) { (keys, window) throws(StoreError) in
      try unsafe keys.forEach { (position, key) throws(StoreError) in
        guard try unsafe isThere(key, at: position, in: &window) else { return true }
        left -= 1
        return try unsafe body(key) && left > 0
      }
    }
  }

  /// Calls `body` with the keys of a range, as many at a time as a window takes, until it returns false.
  private func scanKeys(
    _ range: KeyRange,
    _ direction: KeyRange.Direction,
    limit: Int,
    _ body: (KeyLoan, inout KeyWindow) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try engine.checkBeforeRead()
    try checkPresent()
    guard limit > 0 else { return }
    var order = try engine.keyOrder(of: self)
    var rest = range
    var keys = KeyBatch()
    var most = limit == .max ? Self.firstKeys : min(limit, Self.mostKeys)
    while true {
      guard order.read(rest, direction, limit: most, into: &keys) else {
        order = try engine.keyOrder(of: self, insteadOf: order)
        continue
      }
      guard try lookUp(keys, body), keys.count == most, let last = keys.last else { break }
      rest = direction == .ascending ? rest.after(last) : rest.upTo(last)
      most = Self.mostKeys
    }
    // Also if there was enough: what is missing might have come before.
    try order.check()
    try keydir.checkWhole()
  }

  private func lookUp(
    _ keys: KeyBatch,
    _ body: (KeyLoan, inout KeyWindow) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    try unsafe keys.bytes.withUnsafeBytesTyped { (bytes) throws(StoreError) in
      for start in stride(from: 0, to: keys.count, by: KeyWindow.capacity) {
        let loan = unsafe KeyLoan(keys, start..<min(start + KeyWindow.capacity, keys.count), bytes)
        var window = try openWindow()
        window.notesReads = false
        defer { close(&window) }
        _ = unsafe loan.forEach { (_, key) throws(Never) in
          unsafe add(key, to: &window)
          return true
        }
        pageIn(&window)
        guard try body(loan, &window) else { return false }
      }
      return true
    }
  }
}

/// The keys of one window.
///
/// Safety: whoever makes one keeps the bytes as long as it is used.
@safe
private struct KeyLoan {
  private let keys: KeyBatch
  private let positions: Range<Int>
  private let bytes: UnsafeRawBufferPointer

  init(_ keys: KeyBatch, _ positions: Range<Int>, _ bytes: UnsafeRawBufferPointer) {
    self.keys = keys
    self.positions = positions
    unsafe self.bytes = bytes
  }

  /// Calls `body` with each key and its position in the window until it returns false; whether it never did.
  func forEach<E: Error>(_ body: (Int, UnsafeRawBufferPointer) throws(E) -> Bool) throws(E) -> Bool {
    for position in positions {
      let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[keys.place(position)])
      guard try unsafe body(position - positions.lowerBound, key) else { return false }
    }
    return true
  }
}
