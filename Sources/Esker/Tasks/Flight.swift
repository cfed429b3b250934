internal import EskerPlatform
internal import Synchronization

/// A value that is being produced, and the tasks that wait for it.
///
/// The producer runs in a task of its own, so it is no one waiter's: it goes on while anybody waits. Each waiter is resumed
/// once, by the outcome, by its own cancellation, or by its limit. When the last one has left, the producer is cancelled, unless it is
/// *kept*: then it goes on for whoever comes later.
///
/// Safety: threads may share it, since only a holder of the table's lock touches what changes.
final class Flight: @unchecked Sendable {
  typealias Outcome = Result<any Sendable, StorageError>

  let key: FlightKey
  // Guarded by the table's lock.
  var waiters: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
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
  let identity: StorageCall.Identity
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
  private var lastWaiter: UInt64 = 0
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
    let waiter = lock.withLock {
      lastWaiter += 1
      return lastWaiter
    }
    let own = Flight.current
    let boarded = Guarded<Flight?>(nil, .leaf)
    let place = Place(boarded)
    var timer: Task<Void, Never>?
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        board(key, waiter, continuation, own, place, isKept, body)
        // Not before: it would find nobody to resume.
        timer = limit.map { limit in
          Task { [self] in
            if (try? await Task.sleep(for: limit.bounded)) != nil { leave(waiter, place, nil) }
          }
        }
      }
    } onCancel: {
      leave(waiter, place, .failure(.cancelled))
    }
    timer?.cancel()
    if let own, let flight = place.flight.withLock({ $0 }) { lock.withLock { own.stopAwaiting(flight) } }
    return outcome
  }

  /// How many tasks wait for the value of a key.
  func waiterCount(for key: FlightKey) -> Int { lock.withLock { flights[key]?.waiters.count ?? 0 } }

  /// Where a waiter waits, once it does.
  private final class Place: Sendable {
    let flight: Guarded<Flight?>

    init(_ flight: consuming Guarded<Flight?>) {
      self.flight = flight
    }
  }

  private func board(
    _ key: FlightKey,
    _ waiter: UInt64,
    _ continuation: CheckedContinuation<Flight.Outcome?, Never>,
    _ own: Flight?,
    _ place: Place,
    _ isKept: Bool,
    _ body: @escaping @Sendable () async -> Flight.Outcome
  ) {
    let refusal: StorageError? = lock.withLock {
      // A cancellation that came before this found nobody to resume.
      if Task.isCancelled { return .cancelled }
      let present = flights[key]
      if let present, let own, present.waits(for: own) { return .producer(ProducerError.waitsForItself) }
      let flight = present ?? take(off: key, body)
      flight.waiters[waiter] = continuation
      if isKept { flight.isKept = true }
      place.flight.withLock { $0 = flight }
      own?.startAwaiting(flight)
      return nil
    }
    if let refusal { continuation.resume(returning: .failure(refusal)) }
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
    let waiters = lock.withLock {
      if flights[flight.key] === flight { flights[flight.key] = nil }
      defer { flight.waiters = [:] }
      return flight.waiters.values
    }
    for waiter in waiters { waiter.resume(returning: outcome) }
  }

  /// A waiter stops waiting, if it still does, and gets `outcome`.
  private func leave(_ waiter: UInt64, _ place: Place, _ outcome: Flight.Outcome?) {
    let resumed: (CheckedContinuation<Flight.Outcome?, Never>, Task<Void, Never>?)? = lock.withLock {
      guard let flight = place.flight.withLock({ $0 }), let continuation = flight.waiters.removeValue(forKey: waiter)
      else { return nil }
      guard flight.waiters.isEmpty, !flight.isKept else { return (continuation, nil) }
      // Whoever comes next begins anew.
      if flights[flight.key] === flight { flights[flight.key] = nil }
      return (continuation, flight.task)
    }
    resumed?.0.resume(returning: outcome)
    resumed?.1?.cancel()
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
