internal import EskerPlatform
internal import Foundation

extension StorageCall {
  /// How a value is produced, and what is done while that takes its time; see
  /// ``AsyncStorage/value(forKey:_:orProduce:)``.
  public struct Production: Hashable, Sendable {
    /// How long a produced value is fresh.
    public var life: Duration
    /// Fail-safe: for how long after its life a value is served while producing a new one fails or takes longer than
    /// ``softTimeout``; nil for not at all. The storage keeps values this much longer, and its other reads see them.
    public var serveStale: Duration?
    /// After which a stale value is served; nil: only when the producer has failed.
    public var softTimeout: Duration?
    /// After which a call fails that has nothing to serve; nil: it waits for the producer.
    public var hardTimeout: Duration?
    /// The part of its life, from 0 to 1, after which the first who asks for a value has a new one produced in the background; nil:
    /// never.
    public var refreshAfter: Double?
    /// By which part of the life, at random between 0 and this, a value's own is shorter, so that what was produced together is not
    /// produced together again.
    public var jitter: Double

    /// A production of values that are fresh for `life`.
    public init(
      life: Duration,
      serveStale: Duration? = nil,
      softTimeout: Duration? = nil,
      hardTimeout: Duration? = nil,
      refreshAfter: Double? = nil,
      jitter: Double = 0
    ) {
      self.life = life
      self.serveStale = serveStale
      self.softTimeout = softTimeout
      self.hardTimeout = hardTimeout
      self.refreshAfter = refreshAfter
      self.jitter = jitter
    }

    /// When a value expires in the storage that is produced now.
    var expiry: Expiry { .after(life * (1 - Double.random(in: 0...min(1, max(0, jitter)))) + (serveStale ?? .zero)) }

    /// For how long an entry is still fresh, negative if it is stale; nil if it does not expire.
    func freshness<Value>(of entry: Entry<Value>) -> Duration? { entry.remaining().map { $0 - (serveStale ?? .zero) } }

    /// Whether an entry that is fresh for so much longer is old enough to be produced anew.
    func mayRefresh(_ left: Duration) -> Bool { refreshAfter.map { left < life * (1 - $0) } ?? false }

    /// The value that is found, if none has to be produced in its place.
    func finished<Value>(_ found: Entry<Value>?) -> Value? {
      guard let found else { return nil }
      guard let left = freshness(of: found) else { return found.value }
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
    _ production: StorageCall.Production,
    orProduce producer: @escaping @Sendable () async throws -> Base.Value
  ) async throws(StorageError) -> Base.Value {
    var spare: Base.Value?
    if let found = try await base.found(key, StorageCall.Read()) {
      guard let left = production.freshness(of: found) else { return found.value }
      if left > .zero {
        if production.mayRefresh(left) { _ = try landing(key, production, producer) }
        return found.value
      }
      spare = found.value
    }
    let landing = try landing(key, production, producer)
    let outcome = await landing.outcome(within: spare == nil ? production.hardTimeout : production.softTimeout)
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

  /// Has the value produced by a task that waits for it on behalf of all who may stop waiting.
  private func landing(
    _ key: Base.Key,
    _ production: StorageCall.Production,
    _ producer: @escaping @Sendable () async throws -> Base.Value
  ) throws(StorageError) -> Landing {
    let flight = FlightKey(identity: try base.identity(of: key), value: ObjectIdentifier(Base.Value.self))
    let landing = Landing()
    Task { [self] in
      landing.land(await FlightTable.shared.value(of: flight) { await renewed(key, production, producer) })
    }
    return landing
  }

  private func renewed(
    _ key: Base.Key,
    _ production: StorageCall.Production,
    _ producer: @Sendable () async throws -> Base.Value
  ) async -> Flight.Outcome {
    do throws(StorageError) {
      var call = StorageCall.Read.again
      call.needsVersion = true
      var before = try await base.found(key, call)
      // Another may have produced it since it was asked for.
      if let value = production.finished(before) { return .success(value) }
      let value = try await produced(
        key,
        unless: { () async throws(StorageError) in
          before = try await base.found(key, .behind)
          return production.finished(before)
        },
        by: { () async throws(StorageError) in
          let began = StorageCall.nextMoment()
          let value: Base.Value
          do { value = try await producer() } catch { throw StorageError.producer(error) }
          var write = StorageCall.Write(.set(value), expiry: production.expiry)
          write.began = began
          if base is any StorageCall.AsyncUpdatable<Base.Key, Base.Value> {
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

/// The outcome of a flight, for one who may stop waiting before it is there.
private final class Landing: Sendable {
  private struct State {
    var outcome: Flight.Outcome?
    var waiter: CheckedContinuation<Flight.Outcome?, Never>?
    var isOver = false
  }

  private let state = Guarded(State(), .leaf)

  /// Waits, at most for `limit`: nil then.
  func outcome(within limit: Duration?) async -> Flight.Outcome? {
    let timer = limit.map { limit in
      Task { [self] in
        if (try? await Task.sleep(for: limit)) != nil { resume(nil) }
      }
    }
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.outcome == nil, !state.isOver { state.waiter = continuation }
          return state.outcome != nil || state.isOver
        }
        if isOver { continuation.resume(returning: state.withLock { $0.outcome }) }
      }
    } onCancel: {
      resume(.failure(.cancelled))
    }
  }

  func land(_ outcome: Flight.Outcome) { resume(outcome) }

  /// The first who comes decides.
  private func resume(_ outcome: Flight.Outcome?) {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      if !state.isOver { state.outcome = outcome }
      state.isOver = true
      return state.waiter
    }
    waiter?.resume(returning: outcome)
  }
}
