// Safety: keys and values are lent by a scan, which keeps them until `body` returns.

extension ByteStore {
  /// The entries of a range in the order of their keys, copied.
  ///
  /// The first call that asks for a keyspace's keys in order gathers them, which takes a pass over the index; from then on they are kept in
  /// order, in memory and in checkpoints, at about 24 bytes for each key of 16 bytes, 35 for those that come later in any order, and a
  /// microsecond for each new one. Keyspaces that are never asked pay nothing.
  ///
  /// A key that is there during the whole call is seen once, with a value that it had meanwhile; one that comes or goes meanwhile may or
  /// may not be seen. ``Snapshot/entries(in:_:order:)`` shows one instant.
  ///
  /// ```swift
  /// let page = try posts.entries(in: .prefix("user/7/").after(cursor), limit: 50)
  /// ```
  ///
  /// - Parameters:
  ///   - range: The keys.
  ///   - order: Which come first.
  ///   - limit: The most entries.
  /// - Throws: ``StoreError/damaged(_:reason:)`` if one of the records is damaged, or one whose key nobody knows;
  ///   ``StoreError/failed(operation:path:errno:)`` if there is no memory for the keys.
  /// - Complexity: O(log n) for the first entry, O(1) for each further one. The first time O(entries of the store), one to two microseconds
  ///   for each.
  public func entries(
    in range: KeyRange = .all,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max
  ) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
    var found: [(key: [UInt8], value: [UInt8])] = []
    try unsafe core.scan(range, order, limit: limit) { (key, entry) throws(StoreError) in
      unsafe found.append(([UInt8](key), [UInt8](entry.value)))
      return true
    }
    return found
  }

  /// The keys of a range in order, copied; see ``entries(in:order:limit:)``. Values are verified, and not
  /// copied.
  public func keys(
    in range: KeyRange = .all,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max
  ) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    try unsafe core.scanKeys(range, order, limit: limit) { (key) throws(StoreError) in
      unsafe found.append([UInt8](key))
      return true
    }
    return found
  }

  /// Calls `body` with each key of a range, in order, until it returns false or there were `limit`. Copies
  /// nothing; otherwise as ``keys(in:order:limit:)``. `body` must be brief, and must not close any store.
  public func forEachKey(
    in range: KeyRange = .all,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max,
    _ body: (RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try unsafe core.scanKeys(range, order, limit: limit) { (key) throws(StoreError) in try unsafe body(key.bytes) }
  }

  /// Calls `body` with each key of a range and its value in place, in order, until it returns false or there were
  /// `limit`; see ``entries(in:order:limit:)``. Copies no value but a packed one.
  ///
  /// `body` must be brief, because the store frees no memory while it runs, and must not close any store. What it writes may or may not
  /// be seen further on.
  ///
  /// - Throws: What `body` throws; what ``entries(in:order:limit:)`` throws, once all that can be read was shown if a key is unknown.
  public func forEachEntry(
    in range: KeyRange = .all,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try forEachEntry(in: range, order: order, limit: limit) { (key, value, _) throws(StoreError) in try body(key, value)
    }
  }

  /// The same with what is known of each value.
  public func forEachEntry(
    in range: KeyRange = .all,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max,
    _ body: (RawSpan, RawSpan, ValueMetadata) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try unsafe core.scan(range, order, limit: limit) { (key, entry) throws(StoreError) in
      try unsafe body(key.bytes, entry.value.bytes, entry.metadata)
    }
  }

  /// Calls `body`, which may throw any error, with each key of a range and its value in place, in order, until it returns false.
  public func forEachEntry(
    in range: KeyRange = .all,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max,
    _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    var failure: (any Error)?
    do throws(StoreError) {
      try forEachEntry(in: range, order: order, limit: limit) { (key, value) throws(StoreError) in
        do { return try body(key, value) } catch {
          failure = error
          return false
        }
      }
    } catch {
      throw failure ?? error
    }
    if let failure { throw failure }
  }

  /// The entry with the least key of a range; nil if it has none. See ``entries(in:order:limit:)``.
  public func first(in range: KeyRange = .all) throws(StoreError) -> (key: [UInt8], value: [UInt8])? {
    try entries(in: range, limit: 1).first
  }

  /// The entry with the greatest key of a range; nil if it has none. See ``entries(in:order:limit:)``.
  public func last(in range: KeyRange = .all) throws(StoreError) -> (key: [UInt8], value: [UInt8])? {
    try entries(in: range, order: .descending, limit: 1).first
  }

  /// The number of entries in a range, which are looked up one by one; see ``entries(in:order:limit:)``.
  ///
  /// - Complexity: O(entries of the range).
  public func count(in range: KeyRange) throws(StoreError) -> Int {
    var count = 0
    try unsafe core.scanKeys(range, .ascending, limit: .max) { (_) throws(StoreError) in
      count += 1
      return true
    }
    return count
  }

  /// Removes the entries of a range in batches of some hundred, of which each is removed as a whole; see
  /// ``entries(in:order:limit:)``. To remove all keys, ``removeAll(durability:)`` takes constant time.
  ///
  /// - Returns: The number of entries removed. Those that come meanwhile may be among them.
  /// - Throws: What a scan and a put throw; some may have been removed then.
  /// - Complexity: O(entries of the range).
  @discardableResult
  public func removeAll(in range: KeyRange, durability: Durability? = nil) throws(StoreError) -> Int {
    let (removed, last) = try logRemovals(in: range)
    try core.engine.settle(last, durability)
    return removed
  }

  /// Logs the removals; how many, and the last one's number.
  func logRemovals(in range: KeyRange) throws(StoreError) -> (removed: Int, last: UInt64) {
    let isClaimed = try core.engine.claimTurn()
    defer { if isClaimed { core.engine.endClaim() } }
    try core.engine.env.checkMayWrite()
    var (rest, removed, last) = (range, 0, core.engine.publishedSequence)
    while true {
      let keys = try keys(in: rest, limit: removalsAtOnce)
      guard let end = keys.last else { return (removed, max(last, try logAbsence(of: range))) }
      var batch = WriteBatch(defaultKeyspace: core)
      for key in keys { try batch.remove(key) }
      last = try core.engine.commit(batch)
      removed += keys.count
      rest = rest.after(end)
    }
  }
}

extension ByteStore {
  /// Logs, in a store with a capacity, that nothing of a range is left; the number of that, or 0.
  ///
  /// What was evicted from the range is in no batch. So that a reader in another process shows nothing of it from then on, there is a number, of
  /// a tombstone for a key that is absent. So that nothing of it is back after a power failure, its files stay removed.
  private func logAbsence(of range: KeyRange) throws(StoreError) -> UInt64 {
    guard core.engine.env.settings.capacity != nil else { return 0 }
    try core.engine.catalog.syncRemovals()
    guard range.least.count <= StoreLimits.keyLength else { return 0 }
    return try writeRemoval(range.least, condition: .version(nil)).sequence
  }
}

/// The number of removals in a batch: other writers wait for all of one.
private let removalsAtOnce = 256
