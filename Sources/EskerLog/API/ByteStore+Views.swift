// What typed views are made of: writes on a condition, that tell what was stored, and reads that may show what has expired.
//
// Safety: pointers to keys and values are used only while the caller's spans are lent. The engine copies what it stores.

/// On what condition a view's write takes effect.
@usableFromInline
package enum ViewCondition: Sendable {
  case always
  case absent
  case present
  case version(SequenceNumber)

  /// Whether the condition holds where there is a value of that version.
  func holds(for present: SequenceNumber) -> Bool {
    switch self {
    case .always, .present: true
    case .absent: false
    case .version(let version): version == present
    }
  }
}

/// What a view's write did.
@usableFromInline
package struct ViewWriteResult: Sendable {
  /// Whether the condition held.
  package var isDone = false
  /// Whether there was a value; known of removals and new expiries only.
  package var wasThere = false
  /// The key's newest write; 0 if there is none.
  package var sequence: UInt64 = 0
  /// When the value expires, in milliseconds since 1970; `Int64.max` for never.
  package var expiry = Int64.max
  /// When the call began, if it is timed, in nanoseconds; 0 for all others.
  var start: UInt64 = 0

  @usableFromInline
  package init(isDone: Bool = false, wasThere: Bool = false, sequence: UInt64 = 0, expiry: Int64 = .max) {
    self.isDone = isDone
    self.wasThere = wasThere
    self.sequence = sequence
    self.expiry = expiry
  }
}

// None of these waits for durability; `settle` does.
extension Keyspace {
  /// Stores `value` if the condition holds.
  ///
  /// - Parameter skipsUnchanged: whether a value that is there already, with the expiry that it would have, is not written again.
  @usableFromInline
  package func log(
    _ value: RawSpan,
    forKey key: RawSpan,
    if condition: ViewCondition,
    expiry: Expiry?,
    durability: Durability?,
    skipsUnchanged: Bool
  ) throws(StoreError) -> ViewWriteResult {
    let start = core.engine.startOfSample()
    // Before the expiry is resolved, too.
    let isClaimed = try core.engine.claimTurn()
    defer { if isClaimed { core.engine.endClaim() } }
    var written = try logged(value, key, condition, core.instant(of: expiry), durability, skipsUnchanged)
    if written.isDone { written.start = start }
    return written
  }

  private func logged(
    _ value: RawSpan,
    _ key: RawSpan,
    _ condition: ViewCondition,
    _ instant: Int64,
    _ durability: Durability?,
    _ skipsUnchanged: Bool
  ) throws(StoreError) -> ViewWriteResult {
    switch condition {
    case .always:
      return try logged(value, key, instant, .always, durability)
    case .absent:
      return try logged(value, key, instant, .version(nil), durability)
    case .version(let version):
      guard skipsUnchanged else { return try logged(value, key, instant, .version(version), durability) }
      guard let lease = try lease(key), lease.version == version else { return ViewWriteResult() }
      let sequence = try replace(lease, with: value, forKey: key, Expiry(stored: instant), durability)
      guard let sequence else { return ViewWriteResult() }
      return ViewWriteResult(isDone: true, sequence: sequence, expiry: instant)
    case .present:
      while let lease = try lease(key) {
        let written = try logged(value, key, instant, .version(lease.version), durability)
        if written.isDone { return written }
      }
      return ViewWriteResult()
    }
  }

  private func logged(
    _ value: RawSpan,
    _ key: RawSpan,
    _ instant: Int64,
    _ condition: WriteCondition,
    _ durability: Durability?
  ) throws(StoreError) -> ViewWriteResult {
    let sequence = try unsafe key.withKeyPointer { (key) throws(StoreError) in
      try unsafe value.withKeyPointer { (value) throws(StoreError) in
        try unsafe core.put(value, key, at: instant, condition, durability)
      }
    }
    return ViewWriteResult(isDone: sequence != 0, sequence: sequence, expiry: instant)
  }

  /// Sets the expiry of a value if the condition holds, which it does not where there is none.
  package func logExpiry(
    _ expiry: Expiry?,
    ofKey key: RawSpan,
    if condition: ViewCondition,
    durability: Durability?
  ) throws(StoreError) -> ViewWriteResult {
    let isClaimed = try core.engine.claimTurn()
    defer { if isClaimed { core.engine.endClaim() } }
    let instant = core.instant(of: expiry)
    while let lease = try lease(key) {
      guard condition.holds(for: lease.version) else { return ViewWriteResult(wasThere: true) }
      var written = ViewWriteResult(isDone: true, wasThere: true, sequence: lease.version.rawValue, expiry: instant)
      if lease.expiry == Expiry(stored: instant) {
        try core.engine.env.checkMayWrite()
        return written
      }
      written.sequence = try rewrite(lease, forKey: key, Expiry(stored: instant), durability)
      if written.sequence != 0 { return written }
    }
    return ViewWriteResult()
  }

  /// Extends a value's life to `duration` from now, unless it does not expire, or would gain less than an eighth of that.
  package func logExtension(
    ofKey key: RawSpan,
    by duration: Duration,
    if condition: ViewCondition,
    durability: Durability?
  ) throws(StoreError) -> ViewWriteResult {
    let isClaimed = try core.engine.claimTurn()
    defer { if isClaimed { core.engine.endClaim() } }
    while let lease = try lease(key) {
      guard condition.holds(for: lease.version) else { return ViewWriteResult(wasThere: true) }
      var written = ViewWriteResult(isDone: true, wasThere: true, sequence: lease.version.rawValue)
      written.expiry = lease.expiry.stored
      guard let instant = core.extended(lease.expiry, by: duration) else { return written }
      written.expiry = instant
      written.sequence = try rewrite(lease, forKey: key, Expiry(stored: instant), durability)
      if written.sequence != 0 { return written }
    }
    return ViewWriteResult()
  }

  /// Removes `key` if the condition holds.
  package func logRemoval(_ key: RawSpan, if condition: ViewCondition) throws(StoreError) -> ViewWriteResult {
    switch condition {
    case .always, .present:
      let removal = try writeRemoval(key, condition: .always)
      var isDone = removal.wasVisible
      if case .always = condition { isDone = true }
      return ViewWriteResult(isDone: isDone, wasThere: removal.wasVisible, sequence: removal.sequence)
    case .version(let version):
      let removal = try writeRemoval(key, condition: .version(version))
      let isDone = removal.sequence != 0
      return ViewWriteResult(isDone: isDone, wasThere: removal.wasVisible, sequence: removal.sequence)
    case .absent:
      let isClaimed = try core.engine.claimTurn()
      defer { if isClaimed { core.engine.endClaim() } }
      try core.engine.env.checkMayWrite()
      let isThere = try metadata(forKey: key) != nil
      return ViewWriteResult(isDone: !isThere, wasThere: isThere)
    }
  }

  /// Throws if the store is closed, or the keyspace removed.
  package func checkReadable() throws(StoreError) { try core.checkReadable() }

  /// Whether any look-up may have to wait, for a device or for what is new to a reader.
  @usableFromInline
  package var mayWait: Bool { !core.engine.env.isUnhindered || core.engine.env.pages.mayWait }

  /// Whether a look-up would wait for a device. The pages that it would wait for are then being read.
  package func mustWait(for key: RawSpan) -> Bool {
    unsafe key.withKeyPointer { unsafe core.mustWait(for: $0) }
  }

  /// Whether a write may have to wait until there is room.
  @usableFromInline
  package var mayMakeRoom: Bool { core.engine.env.settings.capacity != nil }

  /// Waits until this process may write.
  @usableFromInline
  package nonisolated(nonsending) func awaitTurn() async throws(StoreError) {
    if !core.engine.env.isUnhindered { try await core.engine.awaitTurn() }
  }

  /// Gives a write its durability.
  @usableFromInline
  package func settle(_ written: ViewWriteResult, _ durability: Durability?) throws(StoreError) {
    try core.engine.settle(written.sequence, durability)
    core.engine.endPut(written.start)
  }

  /// The same without blocking the task's thread. Once a write is logged, its task waits even if it is cancelled.
  @usableFromInline
  package nonisolated(nonsending) func settleAsync(_ written: ViewWriteResult, _ durability: Durability?)
    async throws(StoreError)
  {
    try await core.engine.settleAsync(written.sequence, durability, isAbandonable: false)
    core.engine.endPut(written.start)
  }

  /// A value in place, with what is known of it, also if it has expired and nobody has removed it yet.
  package func withEntryEvenExpired<R>(
    forKey key: RawSpan,
    _ body: (RawSpan, ValueMetadata) throws -> R
  ) throws -> R? {
    let lease = try unsafe key.withKeyPointer { (key) throws(StoreError) in try unsafe core.leaseEvenExpired(key) }
    guard let lease else { return nil }
    return try lease.withBytes { span in try body(span, lease.metadata) }
  }
}
