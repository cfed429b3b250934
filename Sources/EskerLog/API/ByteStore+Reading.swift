// Safety: pointers to keys are used only while the caller's span is lent. `get(_:into:)` is passed a buffer that the caller keeps.
// Values of a window are valid until the next one is asked for, which is after `body` has returned; the window is closed last. A lease
// ends before the room on the stack that its value may have been copied to.

extension ByteStore {
  /// A copy of the value of `key`; nil if the key is absent or expired. Takes no lock.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)`` if the bytes on disk are not what was written.
  /// - Complexity: O(1) and one copy of the value.
  @inlinable
  public func get<K: ByteSource & ~Copyable & ~Escapable>(_ key: borrowing K) throws(StoreError) -> [UInt8]? {
    try key.withBytes { (span) throws(StoreError) -> [UInt8]? in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> [UInt8]? in try unsafe core.get(key) }
    }
  }

  /// Copies the value of `key` into `buffer`, and returns the value's length in bytes; nil if the key is absent or expired.
  ///
  /// A value longer than the buffer is truncated; the length returned is that of the full value.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)``.
  @inlinable
  public func get<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> Int? {
    try key.withBytes { (span) throws(StoreError) -> Int? in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> Int? in try unsafe core.get(key, into: buffer) }
    }
  }

  /// Calls `body` with the value's bytes in place, without a copy unless they are few (up to 512), must be decompressed, or are less
  /// than 64 KiB in the segment that is being written; nil if the key is absent or expired.
  ///
  /// The bytes stay valid and unchanged until `body` returns, even if the key is written meanwhile. `body` may take its time and
  /// may call the store.
  ///
  /// - Throws: what `body` throws; ``StoreError/damaged(_:reason:)``.
  @inlinable
  public func withValue<R: ~Copyable, K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ body: (RawSpan) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    try unsafe withRoom { (room) throws(StoreError) -> R? in
      guard let lease = try unsafe lease(key, room) else { return nil }
      return try lease.withBytes(body)
    }
  }

  /// Calls `body`, which may throw any error, with the value's bytes in place.
  @inlinable
  public func withValue<R: ~Copyable, K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ body: (RawSpan) throws -> R
  ) throws -> R? {
    try unsafe withRoom { (room) throws -> R? in
      guard let lease = try unsafe lease(key, room) else { return nil }
      return try lease.withBytes(body)
    }
  }

  /// Calls `body` with the value's bytes in place and their metadata, both from the same write; nil if the key is absent or
  /// expired. Takes one look-up; otherwise like `withValue`.
  ///
  /// - Throws: what `body` throws; ``StoreError/damaged(_:reason:)``.
  @inlinable
  public func withEntry<R: ~Copyable, K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ body: (RawSpan, ValueMetadata) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    try unsafe withRoom { (room) throws(StoreError) -> R? in
      guard let lease = try unsafe lease(key, room) else { return nil }
      return try lease.withBytes { (span) throws(StoreError) in try body(span, lease.metadata) }
    }
  }

  /// Calls `body`, which may throw any error, with the value's bytes in place and their metadata.
  @inlinable
  public func withEntry<R: ~Copyable, K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ body: (RawSpan, ValueMetadata) throws -> R
  ) throws -> R? {
    try unsafe withRoom { (room) throws -> R? in
      guard let lease = try unsafe lease(key, room) else { return nil }
      return try lease.withBytes { span in try body(span, lease.metadata) }
    }
  }

  /// Calls `body` with memory on the stack, for a copy of a small value: that takes less time than to count a reference to its segment.
  @inlinable @inline(__always)
  func withRoom<R: ~Copyable, E: Error>(_ body: (UnsafeMutableRawBufferPointer) throws(E) -> R) throws(E) -> R {
    // Not every standard library passes the type of the error on.
    let outcome = unsafe withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { room in
      NoncopyableResult<R, E> { () throws(E) -> R in try unsafe body(room) }
    }
    return try outcome.get()
  }

  /// The value in place, or in `room` if it fits, which the caller keeps as long as it uses the lease.
  @inlinable
  func lease<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    _ room: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> ValueLease? {
    try key.withBytes { (span) throws(StoreError) -> ValueLease? in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> ValueLease? in try unsafe core.lease(key, room) }
    }
  }

  /// The value in place, which may be used for as long as the lease is kept.
  func lease<K: ByteSource & ~Copyable & ~Escapable>(_ key: borrowing K) throws(StoreError) -> ValueLease? {
    try unsafe lease(key, UnsafeMutableRawBufferPointer(start: nil, count: 0))
  }

  /// The values of several keys, in the order of the keys; nil for each key that is absent or expired.
  ///
  /// Overlaps the memory latencies of the look-ups, which is several times as fast as one `get` per key. Each value is one that
  /// its key had during the call; together they are not a snapshot.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)`` if any of the records is damaged.
  @inlinable
  public func get(_ keys: [some ByteSource]) throws(StoreError) -> [[UInt8]?] {
    var values = [[UInt8]?](repeating: nil, count: keys.count)
    try withValues(forKeys: keys) { (index, value) throws(StoreError) in
      if let value { values[index] = unsafe value.withUnsafeBytes { unsafe [UInt8]($0) } }
    }
    return values
  }

  /// Calls `body` once for each key, in order, with the key's position and its value in place; nil for a key that is absent or
  /// expired. Overlaps the memory latencies of the look-ups, and copies nothing.
  ///
  /// `body` must be brief, because the store frees no memory while it runs, and must not close any store. Some keys are looked up
  /// before their turn: each value is one that its key had during the call, and a write made by `body` may or may not show in
  /// later values.
  ///
  /// - Throws: what `body` throws; ``StoreError/damaged(_:reason:)`` if a record is damaged, after `body` was called for the keys
  ///   before it.
  @inlinable
  public func withValues<K: ByteSource>(
    forKeys keys: [K],
    _ body: (Int, RawSpan?) throws(StoreError) -> Void
  ) throws(StoreError) {
    let core = core
    // A span lends its elements; an array would retain each of them.
    let keys = ContiguousArray(keys)
    let lent = keys.span
    var start = 0
    if lent.isEmpty { try core.checkReadable() }
    while start < lent.count {
      let end = min(start + KeyWindow.capacity, lent.count)
      var window = try core.openWindow()
      defer { core.close(&window) }
      for position in start..<end {
        lent[position].withBytes { (span) in unsafe span.withKeyPointer { (key) in unsafe core.add(key, to: &window) } }
      }
      core.pageIn(&window)
      for position in start..<end {
        try lent[position].withBytes { (span) throws(StoreError) in
          try unsafe span.withKeyPointer { (key) throws(StoreError) in
            if let value = try unsafe core.value(of: key, at: position - start, in: &window) {
              try unsafe body(position, value.bytes)
            } else {
              try body(position, nil)
            }
          }
        }
      }
      start = end
    }
  }

  /// Calls `body`, which may throw any error, once for each key, in order, with the key's position and its value in place; an
  /// error ends the calls.
  public func withValues<K: ByteSource>(forKeys keys: [K], _ body: (Int, RawSpan?) throws -> Void) throws {
    var failure: (any Error)?
    do throws(StoreError) {
      try withValues(forKeys: keys) { (position, value) throws(StoreError) in
        do {
          try body(position, value)
        } catch {
          failure = error
          throw .cancelled
        }
      }
    } catch {
      throw failure ?? error
    }
  }

  /// Whether the key is present and not expired.
  @inlinable
  public func contains<K: ByteSource & ~Copyable & ~Escapable>(_ key: borrowing K) throws(StoreError) -> Bool {
    try metadata(forKey: key) != nil
  }

  /// The length, version and expiry of a key's value, without reading the value; nil if the key is absent or expired.
  @inlinable
  public func metadata<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K
  ) throws(StoreError) -> ValueMetadata? {
    try key.withBytes { (span) throws(StoreError) -> ValueMetadata? in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> ValueMetadata? in try unsafe core.metadata(key) }
    }
  }

  /// The number of entries in this keyspace, without expired ones: what iterating a snapshot would show.
  ///
  /// Of entries that are written during the call, some may be counted and others not.
  ///
  /// - Throws: ``StoreError/closed``.
  /// - Complexity: O(1) if nothing in the keyspace can have expired, which the store knows of every keyspace whose values do not
  ///   expire, and of the others until the first instant at which one may. From then on O(entries of the store), about 100 ns for
  ///   each, until expired entries are removed, by ``removeExpired()`` or by merges.
  public func count() throws(StoreError) -> Int {
    try core.engine.liveCount(of: [core])
  }

  /// The number of entries in this keyspace that have expired and have not been removed yet.
  ///
  /// - Throws: ``StoreError/closed``.
  /// - Complexity: that of ``count()``.
  public func countExpired() throws(StoreError) -> Int {
    try core.engine.maintainer.countExpired(in: core)
  }
}
