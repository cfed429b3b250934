internal import EskerPlatform

extension Keyspace.Async {
  /// The entries of a range in the order of their keys; see ``ByteStore/entries(in:order:limit:)``. Suspends if keys must be gathered, or
  /// anything may have to be read from a device.
  public nonisolated(nonsending) func entries(
    in range: KeyRange = .all,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max
  ) async throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
    try await scanning { (view) throws(StoreError) in try view.entries(in: range, order: order, limit: limit) }
  }

  /// The keys of a range in order; see ``ByteStore/keys(in:order:limit:)``.
  public nonisolated(nonsending) func keys(
    in range: KeyRange = .all,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max
  ) async throws(StoreError) -> [[UInt8]] {
    try await scanning { (view) throws(StoreError) in try view.keys(in: range, order: order, limit: limit) }
  }

  /// The entry with the least key of a range; nil if it has none.
  public nonisolated(nonsending) func first(
    in range: KeyRange = .all
  ) async throws(StoreError) -> (key: [UInt8], value: [UInt8])? {
    try await entries(in: range, limit: 1).first
  }

  /// The entry with the greatest key of a range; nil if it has none.
  public nonisolated(nonsending) func last(
    in range: KeyRange = .all
  ) async throws(StoreError) -> (key: [UInt8], value: [UInt8])? {
    try await entries(in: range, order: .descending, limit: 1).first
  }

  /// The number of entries in a range; see ``ByteStore/count(in:)``.
  public nonisolated(nonsending) func count(in range: KeyRange) async throws(StoreError) -> Int {
    try await scanning { (view) throws(StoreError) in try view.count(in: range) }
  }

  /// Removes the entries of a range; see ``ByteStore/removeAll(in:durability:)``.
  @discardableResult
  public nonisolated(nonsending) func removeAll(
    in range: KeyRange,
    durability: Durability? = nil
  ) async throws(StoreError) -> Int {
    let (removed, last) = try await scanning { (view) throws(StoreError) in try view.logRemovals(in: range) }
    try await core.engine.settleAsync(last, durability)
    return removed
  }

  /// Scans here if nothing has to be waited for, and else on a thread that may wait.
  private nonisolated(nonsending) func scanning<R: Sendable>(
    _ scan: @escaping @Sendable (CoreView) throws(StoreError) -> R
  ) async throws(StoreError) -> R {
    let view = CoreView(core: core)
    if core.scansInMemory { return try scan(view) }
    return try await IOThreads.shared.run(orThrow: .cancelled) { () throws(StoreError) in try scan(view) }
  }
}

extension KeyspaceCore {
  /// Whether a scan needs no disk, and need not gather keys.
  fileprivate var scansInMemory: Bool {
    engine.env.isUnhindered && !engine.env.pages.mayWait && order?.isComplete == true
  }
}
