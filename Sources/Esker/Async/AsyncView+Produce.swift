extension AsyncView where Base: StorageProtocol, Base.Key: Hashable {
  /// The value under `key`; where there is none, `producer` makes it, and it is stored.
  ///
  /// However many tasks ask for one missing key at the same time, through however many views of the same storage, one
  /// producer runs and all get its value. It runs in a task of its own that inherits the task-local values of who came first.
  ///
  /// - If it throws, all who wait get ``StorageError/producer(_:)``, and the next to ask runs its own.
  /// - If storing its value fails, all who wait get that error.
  /// - A waiting task that is cancelled stops waiting with ``StorageError/cancelled``. The producer goes on for the others; when
  ///   nobody is left it is cancelled, and what it may still return is not stored.
  /// - It may use the storage. If it asks for the very value it is producing, directly or by way of other producers, that
  ///   call throws ``ProducerError/waitsForItself`` at once.
  ///
  /// - Parameters:
  ///   - key: what to look for.
  ///   - expiry: when the produced value goes; nil: as the storage's default says.
  ///   - producer: makes the value.
  public func value(
    forKey key: Base.Key,
    expiry: Expiry? = nil,
    orProduce producer: @escaping @Sendable () async throws -> Base.Value
  ) async throws(StorageError) -> Base.Value {
    if let value = try await value(forKey: key) { return value }
    let outcome = await FlightTable.shared.value(of: FlightKey(storage: base.identity, key: key)) {
      await produced(key, expiry, producer)
    }
    guard let value = try outcome.get() as? Base.Value else { throw .cancelled }
    return value
  }

  private func produced(
    _ key: Base.Key,
    _ expiry: Expiry?,
    _ producer: @Sendable () async throws -> Base.Value
  ) async -> Flight.Outcome {
    do throws(StorageError) {
      // Another producer may have ended since the look before.
      if let value = try await value(forKey: key) { return .success(value) }
      let value: Base.Value
      do {
        value = try await producer()
      } catch {
        throw StorageError.producer(error)
      }
      // Throws if nobody waits any more: then this task is cancelled.
      try await set(value, forKey: key, expiry: expiry)
      return .success(value)
    } catch {
      return .failure(error)
    }
  }
}
