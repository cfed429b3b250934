extension AsyncStorage where Base: AsyncReadableStorage, Base: AsyncWritableStorage {
  /// The value under `key`; where there is none, `producer` makes it, and it is stored.
  ///
  /// However many tasks ask for one missing key at the same time, through however many views of the same storage, one
  /// producer runs and all get its value. It runs in a task of its own that inherits the task-local values of who came first.
  ///
  /// - What is written under the key meanwhile stays, and is what all get, if the storage is an ``UpdatableStorage``. Of another one
  ///   the value written last stays.
  /// - If it throws, all who wait get ``StorageError/producer(_:)``, and the next to ask runs its own.
  /// - If storing its value fails, all who wait get that error.
  /// - A waiting task that is cancelled stops waiting with ``StorageError/cancelled``. The producer goes on for the others; when
  ///   nobody is left it is cancelled, and what it may still return is not stored.
  /// - It may use the storage. If it asks for the very value it is producing, directly or by way of other producers, that
  ///   call throws ``StorageError/producer(_:)`` at once.
  ///
  /// Of all processes that have the same storage, one produces, if it is shared by them and told to: a remote storage with
  /// `RemoteOptions.singleFlight`, also behind operators and a front.
  ///
  /// There is no form for threads: a thread that waits for another's producer cannot be cancelled, and may be the one that the producer
  /// needs. `value(forKey:)` and `setIfAbsent(_:forKey:)` do for one that may produce a value twice.
  ///
  /// Tasks meet where ``StorageProtocol/identity(of:)`` is the same, by the bytes of the key and the storage behind: operators hand
  /// on that of their base, except those that turn values or check them and zips, which have one of their own for each time they are
  /// made.
  ///
  /// - Parameters:
  ///   - key: what to look for.
  ///   - expiry: when the produced value expires; nil: as the storage's default says.
  ///   - producer: makes the value.
  public func value(
    forKey key: Base.Key,
    expiry: Expiry? = nil,
    orProduce producer: @escaping @Sendable () async throws -> Base.Value
  ) async throws(StorageError) -> Base.Value {
    let landings = FlightTable.shared.landings
    if let found = try await base.found(key, StorageRequest.Read()) { return found.value }
    let flight = FlightKey(identity: try base.identity(of: key), value: ObjectIdentifier(Base.Value.self))
    let outcome = await FlightTable.shared.value(of: flight) {
      await produced(key, expiry, since: landings, producer)
    }
    guard let value = try outcome.get() as? Base.Value else { throw .cancelled }
    return value
  }

  private func produced(
    _ key: Base.Key,
    _ expiry: Expiry?,
    since landings: UInt64,
    _ producer: @Sendable () async throws -> Base.Value
  ) async -> Flight.Outcome {
    do throws(StorageError) {
      // Another producer may have ended since the look before; if none has, a slow storage need not be asked again.
      if FlightTable.shared.landings != landings, let found = try await base.found(key, .again) {
        return .success(found.value)
      }
      let value = try await produced(
        key,
        unless: { () async throws(StorageError) in try await base.found(key, .behind)?.value },
        by: { () async throws(StorageError) in
          let began = StorageRequest.nextMoment()
          let value: Base.Value
          do { value = try await producer() } catch { throw StorageError.producer(error) }
          // Throws if nobody waits any more: then this task is cancelled.
          return try await stored(value, key, expiry, began)
        }
      )
      return .success(value)
    } catch {
      return .failure(error)
    }
  }

  /// Has one process produce, of those that have the storage and can agree.
  nonisolated(nonsending) func produced(
    _ key: Base.Key,
    unless look: nonisolated(nonsending) () async throws(StorageError) -> Base.Value?,
    by produce: nonisolated(nonsending) () async throws(StorageError) -> Base.Value
  ) async throws(StorageError) -> Base.Value {
    guard let lock = try productionLock(of: base, key) else { return try await produce() }
    return try await lock.value(look, orProduce: produce)
  }

  /// Stores a value that was produced, unless another was written meanwhile; what is there then.
  private func stored(
    _ value: Base.Value,
    _ key: Base.Key,
    _ expiry: Expiry?,
    _ began: UInt64
  ) async throws(StorageError) -> Base.Value {
    var write = StorageRequest.Write(.set(value), expiry: expiry)
    write.began = began
    if base is any StorageRequest.AsyncUpdatable<Base.Key, Base.Value> { write.condition = .absent }
    while true {
      if try await base.asyncWrite(key, write).isDone { return value }
      // What was written may be gone again.
      if let found = try await base.found(key, .again) { return found.value }
    }
  }
}
