#if Redis
  public import EskerRemote

  // In place of those of the seam, which any store has: these make one object for a request.
  extension RedisStore {
    /// Reads what is under a key. The task waits also if it is cancelled; the deadline bounds that.
    public func get(
      _ key: RemoteKey,
      from source: RemoteSource = .owner,
      by deadline: RemoteInstant
    ) async throws(RemoteError) -> Stamped<RemoteValue?> {
      if isTraced || source == .any {
        return try await (self as any RemoteStore).get(key, from: source, by: deadline)
      }
      return try await AwaitedGet(key, by: deadline).result(from: client)
    }

    /// Stores a value. The task waits also if it is cancelled; the deadline bounds that.
    public func set(
      _ key: RemoteKey,
      _ value: RemoteValue,
      if condition: RemoteCondition = .always,
      as write: RemoteWriteID,
      by deadline: RemoteInstant
    ) async throws(RemoteError) -> Stamped<RemoteWritten> {
      guard !isTraced, condition == .always, value.stored.count <= valueLimit else {
        return try await (self as any RemoteStore).set(key, value, if: condition, as: write, by: deadline)
      }
      let request = AwaitedWrite(
        .set(value.stored, expiry: value.expiry, condition),
        key,
        as: write,
        by: deadline,
        read: Self.reader(condition)
      )
      return try await request.result(from: client)
    }
  }
#endif
