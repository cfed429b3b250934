internal import EskerPlatform
internal import Foundation

extension StorageRequest {
  /// How a value is produced, and what is done while that takes its time; see
  /// ``AsyncStorage/value(forKey:_:orProduce:)``.
  public struct Production: Hashable, Sendable {
    /// How long a produced value is fresh.
    public var lifetime: Duration
    /// Fail-safe: for how long after its lifetime a value is served while producing a new one fails or takes longer than
    /// ``softTimeout``; nil for not at all. The storage keeps values this much longer, and its other reads see them.
    public var serveStale: Duration?
    /// After which a stale value is served; nil: only when the producer has failed.
    public var softTimeout: Duration?
    /// After which a call fails that has nothing to serve; nil: it waits for the producer.
    public var hardTimeout: Duration?
    /// The part of its lifetime, from 0 to 1, after which the first who asks for a value has a new one produced in the background; nil:
    /// never.
    public var refreshAfter: Double?
    /// By which part of the lifetime, at random between 0 and this, a value's own is shorter, so that what was produced together is not
    /// produced together again.
    public var jitter: Double

    /// A production of values that are fresh for `lifetime`.
    public init(
      lifetime: Duration,
      serveStale: Duration? = nil,
      softTimeout: Duration? = nil,
      hardTimeout: Duration? = nil,
      refreshAfter: Double? = nil,
      jitter: Double = 0
    ) {
      self.lifetime = lifetime
      self.serveStale = serveStale
      self.softTimeout = softTimeout
      self.hardTimeout = hardTimeout
      self.refreshAfter = refreshAfter
      self.jitter = jitter
    }

    /// When a value expires in the storage that is produced now.
    var expiry: Expiry { .after(lifetime.bounded * (1 - Double.random(in: 0...min(1, max(0, jitter)))) + stale) }

    /// For how long an entry is still fresh at `now`, negative if it is stale; nil if it does not expire.
    func freshness<Value>(of entry: Entry<Value>, at now: WallTime) -> Duration? {
      entry.remaining(at: now).map { $0 - stale }
    }

    /// For how long it is kept after its lifetime. Forever, it could not be told when that is over.
    private var stale: Duration { (serveStale ?? .zero).bounded }

    /// Whether an entry that is fresh for so much longer is old enough to be produced anew.
    func mayRefresh(_ left: Duration) -> Bool {
      refreshAfter.map { left < lifetime.bounded * (1 - min(1, max(0, $0))) } ?? false
    }

    /// The value that is found, if none has to be produced in its place.
    func finished<Value>(_ found: Entry<Value>?, at now: WallTime) -> Value? {
      guard let found else { return nil }
      guard let left = freshness(of: found, at: now) else { return found.value }
      return left > .zero && !mayRefresh(left) ? found.value : nil
    }
  }
}

/// Why a call failed whose producer may still succeed.
enum ProductionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The hard timeout passed.
  case tookTooLong

  /// What is wrong.
  var description: String { "the producer took longer than the call waits; it goes on" }
}

extension AsyncStorage where Base: AsyncReadableStorage, Base: AsyncWritableStorage {
  /// The value under `key`; where there is none that is fresh, `producer` makes it, and it is stored.
  ///
  /// As ``value(forKey:expiry:orProduce:)``, with limits to how long a call waits: a producer that takes longer than a timeout goes on, and
  /// what it makes is stored. Of the entry that it replaces nothing may have changed meanwhile, if the storage is one that
  /// tasks can update: what somebody else wrote stays.
  ///
  /// - Throws: ``StorageError/producer(_:)`` if the producer failed, or took too long, and there is nothing stale to serve.
  public func value(
    forKey key: Base.Key,
    _ production: StorageRequest.Production,
    orProduce producer: @escaping @Sendable () async throws -> Base.Value
  ) async throws(StorageError) -> Base.Value {
    var spare: Base.Value?
    if let found = try await base.found(key, StorageRequest.Read()) {
      guard let left = production.freshness(of: found, at: base.time) else { return found.value }
      if left > .zero {
        if production.mayRefresh(left) {
          FlightTable.shared.begin(try flight(key)) { await renewed(key, production, producer) }
        }
        return found.value
      }
      spare = found.value
    }
    let limit = spare == nil ? production.hardTimeout : production.softTimeout
    let outcome = await FlightTable.shared.value(of: try flight(key), within: limit) {
      await renewed(key, production, producer)
    }
    switch outcome {
    case .success(let value):
      guard let value = value as? Base.Value else { throw .cancelled }
      return value
    case .failure(.cancelled) where Task.isCancelled: throw .cancelled
    case .failure(let error):
      if let spare { return spare }
      throw error
    case nil:
      if let spare { return spare }
      throw .producer(ProductionError.tookTooLong)
    }
  }

  private func flight(_ key: Base.Key) throws(StorageError) -> FlightKey {
    FlightKey(identity: try base.identity(of: key), value: ObjectIdentifier(Base.Value.self))
  }

  private func renewed(
    _ key: Base.Key,
    _ production: StorageRequest.Production,
    _ producer: @Sendable () async throws -> Base.Value
  ) async -> Flight.Outcome {
    do throws(StorageError) {
      var call = StorageRequest.Read.again
      call.needsVersion = true
      var before = try await base.found(key, call)
      // Another may have produced it since it was asked for.
      if let value = production.finished(before, at: base.time) { return .success(value) }
      let value = try await produced(
        key,
        unless: { () async throws(StorageError) in
          before = try await base.found(key, .behind)
          return production.finished(before, at: base.time)
        },
        by: { () async throws(StorageError) in
          let began = StorageRequest.nextMoment()
          let value: Base.Value
          do { value = try await producer() } catch { throw StorageError.producer(error) }
          var write = StorageRequest.Write(.set(value), expiry: production.expiry)
          write.began = began
          if base is any StorageRequest.AsyncUpdatable<Base.Key, Base.Value> {
            write.condition = before?.version.map { .version($0) } ?? .absent
          }
          if try await base.asyncWrite(key, write).isDone { return value }
          // What somebody else wrote stays, unless it is gone again.
          return try await base.found(key, .again)?.value ?? value
        }
      )
      return .success(value)
    } catch {
      return .failure(error)
    }
  }
}
