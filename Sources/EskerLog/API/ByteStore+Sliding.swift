extension ByteStore {
  /// Returns a copy of the value of `key`, and extends its expiry to `duration` from now.
  ///
  /// A value that never expires, or expires later than that, keeps its expiry. Extending writes a whole new record, so it is
  /// skipped unless it gains at least an eighth of `duration`: a value that is read constantly is written eight times per
  /// `duration`, and after each read it stays for at least seven eighths of `duration`.
  ///
  /// - Returns: the value, or nil if the key is absent or expired; an expired value is not revived.
  /// - Throws: ``StoreError/damaged(_:reason:)``; what a write throws if the expiry must be extended.
  public func get<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    extendingBy duration: Duration,
    durability: Durability? = nil
  ) throws(StoreError) -> [UInt8]? {
    let (value, sequence) = try logExtension(key, by: duration, durability)
    if sequence != 0 { try core.engine.settle(sequence, durability) }
    return value
  }

  /// Reads a value and extends its life; the sequence number is 0 if that took no write.
  func logExtension<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    by duration: Duration,
    _ durability: Durability?
  ) throws(StoreError) -> (value: [UInt8]?, sequence: UInt64) {
    while true {
      guard let lease = try lease(key) else { return (nil, 0) }
      guard let instant = core.extended(lease.expiry, by: duration) else { return (lease.copy, 0) }
      let sequence = try rewrite(lease, forKey: key, Expiry(stored: instant), durability)
      // If another writer was faster, reads its value.
      if sequence != 0 { return (lease.copy, sequence) }
    }
  }
}

extension KeyspaceCore {
  /// The expiry that a value gets whose life is extended to `duration` from now; nil if it keeps its own.
  func extended(_ expiry: Expiry, by duration: Duration) -> Int64? {
    guard case .at(let instant) = expiry else { return nil }
    let wanted = resolve(.after(duration))
    let gain = wanted.subtractingClamped(instant.millisecondsSince1970)
    return gain > 0 && gain >= duration.wholeMilliseconds / 8 ? wanted : nil
  }
}
