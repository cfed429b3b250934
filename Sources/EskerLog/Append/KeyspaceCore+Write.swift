extension ByteStore {
  /// Begins to bring in what a write of `key` looks at first. For callers that have work to do before the write.
  package func anticipate(_ key: RawSpan) {
    unsafe key.withUnsafeBytes { unsafe core.anticipate($0) }
  }
}

extension KeyspaceCore {
  fileprivate func anticipate(_ key: UnsafeRawBufferPointer) {
    unsafe engine.index.prefetch(life.pointee.hash.hash(key))
  }

  /// Stores a value; its sequence number, or 0 when the condition does not hold.
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
    if case .synced = durability ?? engine.options.durability {
      // Many tasks share a sync, so the page stored to is taken out of the translation caches once for all of them.
      isSynced = durability != nil || !DeferredSyncs.isCollecting
    }
    let instant = expiry == nil && !engine.mayExpire(self) ? .max : engine.resolve(expiry, self)
    return try engine.makingRoom { () throws(StoreError) in
      try unsafe engine.put(value, key, self, expiry: instant, condition, isSynced: isSynced)
    }
  }

  /// Stores a value and sees to its durability.
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
    engine.endSample(start, engine.puts)
    return sequence
  }

  /// Removes a key.
  @usableFromInline
  func remove(_ key: UnsafeRawBufferPointer, _ condition: WriteCondition) throws(StoreError) -> Removal {
    try letAheadWrite()
    return try engine.makingRoom { () throws(StoreError) in try unsafe engine.remove(key, self, condition) }
  }
}

extension Engine {
  /// The present store time, for callers that hold no lock: tells of a jump of the wall clock.
  var checkedNow: Int64 {
    let now = time.now
    if let jump = time.takeJump() { emit(.clockJumped(forward: jump)) }
    return now
  }

  /// Whether values written without an expiry may expire.
  @inline(__always)
  func mayExpire(_ core: KeyspaceCore) -> Bool {
    hasDefaultExpiry || core.defaultExpiryMilliseconds.load(ordering: .relaxed) >= 0
  }

  /// The instant in store time at which a value written now expires; `Int64.max` for never.
  func resolve(_ expiry: Expiry?, _ core: KeyspaceCore) -> Int64 {
    switch expiry {
    case .never: return .max
    case .at(let instant): return instant.millisecondsSince1970
    case .after(let duration): return checkedNow.addingClamped(duration.wholeMilliseconds)
    case nil:
      let milliseconds = core.defaultExpiryMilliseconds.load(ordering: .relaxed)
      if milliseconds >= 0 { return checkedNow.addingClamped(milliseconds) }
      if case .never = options.defaultExpiry { return .max }
      return resolve(options.defaultExpiry, core)
    }
  }
}
