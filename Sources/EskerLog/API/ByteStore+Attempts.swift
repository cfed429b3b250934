internal import EskerPlatform

// Reads followed by writes that take effect only if nobody has written the key in between; tried again until one does.
//
// Each returns the sequence number of the key's newest write, for the caller to give it its durability; 0 if there is none to wait
// for. `durability` only decides how a record is written, and is `.buffered` for tasks, as for a put.

extension ByteStore {
  /// Applies what `body` returns for the key's present value.
  func logUpdate<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ durability: Durability?,
    _ body: (RawSpan?) throws -> Update
  ) throws -> UInt64 {
    while true {
      let isClaimed = try core.engine.claimTurn()
      defer { if isClaimed { core.engine.endClaim() } }
      let lease = try lease(key)
      let update: Update
      if let lease { update = try lease.withBytes { span in try body(span) } } else { update = try body(nil) }
      if let sequence = try apply(update, to: key, seen: lease, durability) { return sequence }
    }
  }

  /// The same for a body that throws only errors of the store.
  func logUpdate<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ durability: Durability?,
    _ body: (RawSpan?) throws(StoreError) -> Update
  ) throws(StoreError) -> UInt64 {
    while true {
      let isClaimed = try core.engine.claimTurn()
      defer { if isClaimed { core.engine.endClaim() } }
      let lease = try lease(key)
      let update: Update
      if let lease {
        update = try lease.withBytes { (span) throws(StoreError) in try body(span) }
      } else {
        update = try body(nil)
      }
      if let sequence = try apply(update, to: key, seen: lease, durability) { return sequence }
    }
  }

  /// Makes one attempt at an update; nil if another writer was faster.
  private func apply<K: ByteSource & ~Copyable & ~Escapable>(
    _ update: Update,
    to key: borrowing K,
    seen lease: ValueLease?,
    _ durability: Durability?
  ) throws(StoreError) -> UInt64? {
    switch update.action {
    case .keep:
      return 0
    case .put(let value, let expiry):
      return try replace(lease, with: value, forKey: key, expiry, durability)
    case .remove:
      guard lease != nil || core.engine.env.settings.capacity != nil else { return 0 }
      let sequence = try writeRemoval(key, condition: .version(lease?.version)).sequence
      return sequence == 0 ? nil : sequence
    }
  }

  /// Stores `value` in place of what was read, unless that is the same until the same instant; nil if another writer was faster.
  func replace<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ lease: ValueLease?,
    with value: borrowing V,
    forKey key: borrowing K,
    _ expiry: Expiry?,
    _ durability: Durability?
  ) throws(StoreError) -> UInt64? {
    if let lease, isKept(by: lease, expiry), value.withBytes({ lease.isEqual(to: $0) }) { return try unchanged(lease) }
    let sequence = try writeValue(
      value,
      forKey: key,
      expiry: expiry,
      condition: .version(lease?.version),
      durability: durability
    ).rawValue
    return sequence == 0 ? nil : sequence
  }

  /// Whether a value that was read expires when a write with this expiry would.
  private func isKept(by lease: ValueLease, _ expiry: Expiry?) -> Bool {
    lease.expiry == Expiry(stored: core.resolve(expiry))
  }

  /// The version of a value that need not be written again; nil if another process may have changed it. Throws where a write would: whether a call fails must not depend on
  /// what the value happens to be.
  private func unchanged(_ lease: ValueLease) throws(StoreError) -> UInt64? {
    try core.engine.env.checkMayWrite()
    // The turn that this attempt began in may have ended.
    return core.engine.env.isFollowing ? nil : lease.version.rawValue
  }

  /// Stores `value` if the key's value is `expected`.
  func logValue<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    ifValue expected: [UInt8]?,
    _ expiry: Expiry?,
    _ durability: Durability?
  ) throws(StoreError) -> UInt64 {
    while true {
      let isClaimed = try core.engine.claimTurn()
      defer { if isClaimed { core.engine.endClaim() } }
      let lease = try lease(key)
      if let lease, let expected {
        guard expected.withBytes({ lease.isEqual(to: $0) }) else { return 0 }
      } else if lease != nil || expected != nil {
        return 0
      }
      if let sequence = try replace(lease, with: value, forKey: key, expiry, durability) { return sequence }
    }
  }

  /// Adds `amount` to a counter.
  func logIncrement<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    by amount: Int64,
    _ durability: Durability?
  ) throws(StoreError) -> (sum: Int64, sequence: UInt64) {
    while true {
      let isClaimed = try core.engine.claimTurn()
      defer { if isClaimed { core.engine.endClaim() } }
      let lease = try lease(key)
      var sum = amount
      if let lease {
        let length = lease.metadata.length
        guard length == 8 else { throw notACounter(key, length: length) }
        // Safety: there are eight bytes, and all of their values are valid.
        sum = lease.withBytes { unsafe Int64(littleEndian: $0.unsafeLoadUnaligned(as: Int64.self)) } &+ amount
      }
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
      if let sequence = try replace(lease, with: bytes, forKey: key, lease?.expiry, durability) {
        return (sum, sequence)
      }
    }
  }

  private func notACounter<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    length: Int
  ) -> StoreError {
    // Safety: the bytes are copied while the key lends them.
    let bytes = key.withBytes { (span) in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
    return .damaged(
      StoreError.Location(path: core.engine.env.path, key: bytes),
      reason: "not a counter: the value has \(length) bytes instead of 8"
    )
  }

  /// Appends to a value.
  func logSuffix<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ suffix: borrowing V,
    toKey key: borrowing K,
    _ durability: Durability?
  ) throws(StoreError) -> UInt64 {
    while true {
      let isClaimed = try core.engine.claimTurn()
      defer { if isClaimed { core.engine.endClaim() } }
      let lease = try lease(key)
      if let lease, suffix.withBytes({ $0.isEmpty }) {
        guard let sequence = try unchanged(lease) else { continue }
        return sequence
      }
      var bytes = lease?.copy ?? []
      // Safety: the bytes are copied while the suffix lends them.
      suffix.withBytes { (span) in unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
      let sequence = try writeValue(
        bytes,
        forKey: key,
        expiry: lease?.expiry,
        condition: .version(lease?.version),
        durability: durability
      ).rawValue
      if sequence != 0 { return sequence }
    }
  }

  /// Sets a value's expiry; 0 if there is no value.
  func logExpiry<K: ByteSource & ~Copyable & ~Escapable>(
    _ expiry: Expiry,
    ofKey key: borrowing K,
    _ durability: Durability?
  ) throws(StoreError) -> UInt64 {
    while true {
      let isClaimed = try core.engine.claimTurn()
      defer { if isClaimed { core.engine.endClaim() } }
      guard let lease = try lease(key) else { return 0 }
      if isKept(by: lease, expiry) {
        guard let sequence = try unchanged(lease) else { continue }
        return sequence
      }
      let sequence = try rewrite(lease, forKey: key, expiry, durability)
      if sequence != 0 { return sequence }
    }
  }

  /// Writes a value again with another expiry; 0 if another writer was faster.
  func rewrite<K: ByteSource & ~Copyable & ~Escapable>(
    _ lease: ValueLease,
    forKey key: borrowing K,
    _ expiry: Expiry,
    _ durability: Durability?
  ) throws(StoreError) -> UInt64 {
    // Safety: the lease keeps the value until it has been written.
    defer { withExtendedLifetime(lease) {} }
    return try unsafe writeValue(
      lease.bytes,
      forKey: key,
      expiry: expiry,
      condition: .version(lease.version),
      durability: durability
    ).rawValue
  }
}
