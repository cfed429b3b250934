// Safety: the caller keeps key and value until the call returns. A life stays allocated as long as the core.
extension KeyspaceCore {
  func anticipate(_ key: UnsafeRawBufferPointer) {
    unsafe keydir.reader.prefetch(life.pointee.hash.hash(key))
  }

  /// Stores a value; returns its sequence number, or 0 if the condition does not hold.
  @usableFromInline
  func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ expiry: Expiry?,
    _ condition: WriteCondition,
    _ durability: Durability?
  ) throws(StoreError) -> UInt64 {
    try letAheadWrite()
    var isSynced = false
    if case .synced = durability ?? engine.env.options.durability {
      // Many tasks share a sync, so the page that they store to is flushed from the TLBs only once.
      isSynced = durability != nil || !DeferredSyncs.isCollecting
    }
    let instant = expiry == nil && !mayExpire ? .max : resolve(expiry)
    return try unsafe engine.put(value, key, self, expiry: instant, condition, isSynced: isSynced)
  }

  /// Stores a value, and gives it its durability.
  @usableFromInline
  func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ expiry: Expiry?,
    durability: Durability?
  ) throws(StoreError) -> UInt64 {
    let start = engine.startOfSample()
    let sequence = try unsafe put(value, key, expiry, .always, durability)
    try engine.settle(sequence, durability)
    engine.endPut(start)
    return sequence
  }

  @usableFromInline
  func remove(_ key: UnsafeRawBufferPointer, _ condition: WriteCondition) throws(StoreError) -> Removal {
    try letAheadWrite()
    return try unsafe engine.remove(key, self, condition)
  }
}

extension KeyspaceCore {
  /// Whether values written without an expiry may expire.
  @inline(__always)
  private var mayExpire: Bool {
    keydir.env.hasDefaultExpiry || defaultExpiryMilliseconds.load(ordering: .relaxed) >= 0
  }

  /// The instant in store time at which a value written now expires; `Int64.max` for never.
  func resolve(_ expiry: Expiry?) -> Int64 {
    switch expiry {
    case .never: return .max
    case .at(let instant): return instant.millisecondsSince1970
    case .after(let duration): return keydir.env.checkedNow.addingClamped(duration.wholeMilliseconds)
    case nil:
      let milliseconds = defaultExpiryMilliseconds.load(ordering: .relaxed)
      if milliseconds >= 0 { return keydir.env.checkedNow.addingClamped(milliseconds) }
      if case .never = keydir.env.options.defaultExpiry { return .max }
      return resolve(keydir.env.options.defaultExpiry)
    }
  }
}
