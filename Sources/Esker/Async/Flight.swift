internal import EskerPlatform
internal import Synchronization

/// A value that is being produced, and the tasks that wait for it.
///
/// The producer runs in a task of its own, so it is no one waiter's: it goes on while anybody waits. When the last one has left, by its
/// own cancellation or limit, the producer is cancelled, unless it is *kept*: then it goes on for whoever comes later.
///
/// Safety: threads may share it, since only a holder of the table's lock touches what changes.
final class Flight: @unchecked Sendable {
  typealias Outcome = Result<any Sendable, StorageError>

  let key: FlightKey
  let promise = FlightPromise<Outcome>()
  // Guarded by the table's lock.
  var waiterCount = 0
  var task: Task<Void, Never>?
  var isKept = false
  /// The flights that this one's producer waits for at present, and how often.
  var awaited: [ObjectIdentifier: (flight: Flight, count: Int)] = [:]

  init(_ key: FlightKey) {
    self.key = key
  }

  /// The flight whose producer the present task runs in.
  @TaskLocal static var current: Flight?

  /// Called with the table's lock held: whether this flight's producer waits, directly or not, for `other`.
  func waits(for other: Flight) -> Bool {
    self === other || awaited.values.contains { $0.flight.waits(for: other) }
  }
}

/// What is produced: an entry, as a value of some type.
struct FlightKey: Hashable, Sendable {
  let identity: StorageRequest.Identity
  let value: ObjectIdentifier
}

/// Why a producer was not started.
enum ProducerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The producer asks, directly or through others, for the very value it is producing.
  case waitsForItself

  /// What is wrong.
  var description: String { "a producer is waiting for the value that it should produce itself" }
}

/// The values being produced in this process.
///
/// Safety: threads may share it, since only a holder of `lock` touches what changes.
final class FlightTable: @unchecked Sendable {
  static let shared = FlightTable()

  private let lock = Lock(.flights)
  // Guarded by `lock`.
  private var flights: [FlightKey: Flight] = [:]
  /// Raised by a flight that has ended, before another for its key can begin, and acquired by who looks for its value: whoever
  /// sees the same number twice has missed no value in between.
  private let landed = Atomic<UInt64>(0)

  /// How many flights have ended.
  var landings: UInt64 { landed.load(ordering: .acquiring) }

  /// Waits for the value of `key`: with whoever waits already, or by a new task that runs `body`. That is cancelled when nobody waits
  /// any more.
  func value(
    of key: FlightKey,
    _ body: @escaping @Sendable () async -> Flight.Outcome
  ) async -> Flight.Outcome {
    await outcome(of: key, within: nil, isKept: false, body) ?? .failure(.cancelled)
  }

  /// As above, but no longer than `limit`, after which it returns nil; the task goes on in any case.
  func value(
    of key: FlightKey,
    within limit: Duration?,
    _ body: @escaping @Sendable () async -> Flight.Outcome
  ) async -> Flight.Outcome? {
    await outcome(of: key, within: limit, isKept: true, body)
  }

  /// Has the value of `key` produced by a task that nobody waits for, unless one is under way.
  func begin(_ key: FlightKey, _ body: @escaping @Sendable () async -> Flight.Outcome) {
    lock.withLock {
      let flight = flights[key] ?? take(off: key, body)
      flight.isKept = true
    }
  }

  private func outcome(
    of key: FlightKey,
    within limit: Duration?,
    isKept: Bool,
    _ body: @escaping @Sendable () async -> Flight.Outcome
  ) async -> Flight.Outcome? {
    let own = Flight.current
    let flight: Flight
    do throws(StorageError) { flight = try board(key, own, isKept, body) } catch { return .failure(error) }
    let ending = await flight.promise.outcome(within: limit)
    leave(flight, own)
    return switch ending {
    case .landed(let outcome): outcome
    case .tooLate: nil
    case .cancelled: .failure(.cancelled)
    }
  }

  /// How many tasks wait for the value of a key.
  func waiterCount(for key: FlightKey) -> Int { lock.withLock { flights[key]?.waiterCount ?? 0 } }

  /// The flight of a key, which somebody more waits for.
  private func board(
    _ key: FlightKey,
    _ own: Flight?,
    _ isKept: Bool,
    _ body: @escaping @Sendable () async -> Flight.Outcome
  ) throws(StorageError) -> Flight {
    try lock.withLock { () throws(StorageError) -> Flight in
      if Task.isCancelled { throw .cancelled }
      let present = flights[key]
      if let present, let own, present.waits(for: own) { throw .producer(ProducerError.waitsForItself) }
      let flight = present ?? take(off: key, body)
      flight.waiterCount += 1
      if isKept { flight.isKept = true }
      own?.startAwaiting(flight)
      return flight
    }
  }

  /// Called with the lock held, where there is no flight for the key.
  private func take(off key: FlightKey, _ body: @escaping @Sendable () async -> Flight.Outcome) -> Flight {
    let flight = Flight(key)
    flights[key] = flight
    flight.task = Task { [self] in
      await Flight.$current.withValue(flight) {
        land(flight, await body())
      }
    }
    return flight
  }

  private func land(_ flight: Flight, _ outcome: Flight.Outcome) {
    landed.wrappingAdd(1, ordering: .acquiringAndReleasing)
    lock.withLock { if flights[flight.key] === flight { flights[flight.key] = nil } }
    flight.promise.land(outcome)
  }

  /// Somebody waits no more.
  private func leave(_ flight: Flight, _ own: Flight?) {
    let abandoned: Task<Void, Never>? = lock.withLock {
      own?.stopAwaiting(flight)
      flight.waiterCount -= 1
      guard flight.waiterCount == 0, !flight.isKept, flights[flight.key] === flight else { return nil }
      // Whoever comes next begins anew.
      flights[flight.key] = nil
      return flight.task
    }
    abandoned?.cancel()
  }
}

extension Flight {
  /// Called with the table's lock held.
  func startAwaiting(_ flight: Flight) {
    awaited[ObjectIdentifier(flight), default: (flight, 0)].count += 1
  }

  /// Called with the table's lock held.
  func stopAwaiting(_ flight: Flight) {
    let id = ObjectIdentifier(flight)
    guard let count = awaited[id]?.count else { return }
    awaited[id] = count > 1 ? (flight, count - 1) : nil
  }
}
