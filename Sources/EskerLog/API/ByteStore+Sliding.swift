extension ByteStore {
  /// The value of `key`, copied, and lets it stay for `duration` from now: reading extends its life.
  ///
  /// A value that never expires, or later than that, keeps its expiry. Extending writes a whole new record, so it is done
  /// only when an eighth of `duration` would be gained: a value that is read all the time is written eight times in
  /// `duration`, and is sure of seven eighths of it after each read.
  ///
  /// - Returns: nil when the key is absent or expired; an expired value is not brought back.
  /// - Throws: ``StoreError/damaged(_:reason:)``, and what a write throws when the value's life has to be extended.
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
      // Somebody wrote meanwhile: what is there now is what counts.
      if sequence != nil { return lease.copy }
    }
  }
}
