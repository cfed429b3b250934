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
    while true {
      guard let lease = try lease(key) else { return nil }
      guard case .at(let instant) = lease.expiry else { return lease.copy }
      let wanted = core.resolve(.after(duration))
      let gain = wanted.subtractingClamped(instant.millisecondsSince1970)
      guard gain > 0, gain >= duration.wholeMilliseconds / 8 else { return lease.copy }
      // Safety: the lease keeps the value until it has been written.
      defer { withExtendedLifetime(lease) {} }
      let sequence = try unsafe compareAndSet(
        lease.bytes,
        forKey: key,
        ifVersion: lease.version,
        expiry: .at(WallTime(millisecondsSince1970: wanted)),
        durability: durability
      )
      // Another writer was faster: read its value.
      if sequence != nil { return lease.copy }
    }
  }
}
