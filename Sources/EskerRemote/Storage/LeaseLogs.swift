internal import Esker
internal import EskerPlatform
internal import Synchronization

/// When copies in a log were last known to be current, at the latest: the time of the last lease, in a keyspace beside them.
///
/// So after a restart nothing seems younger than the time for which no process has heard of changes.
final class LeaseLog: Sendable {
  private static let key = "lease"

  private let storage: LogStorage<String, Int64>
  private let queue: Guarded<Queue> = Guarded(Queue(), .leaf)

  private struct Queue {
    var next: UInt64?
    var writer = SoleWriter()
  }

  /// When a process before this one had its last lease: milliseconds since 1970 by the server's clock; nil if that is not known.
  private let former: UInt64?

  init(_ store: LogStore, _ keyspace: String) throws(StorageError) {
    storage = try LogStorage(store, keyspace, key: String.self, transformer: .littleEndian)
    let stored: Int64? = try? storage.value(forKey: Self.key)
    former = stored.map { UInt64(clamping: $0) }
  }

  /// When a copy that was written at a time was last known to be current, if nothing else is known of it.
  func endOfTrust(ofWrite time: UInt64) -> UInt64 { min(time, former ?? time) }

  /// Writes soon, the latest last. What cannot be written is not there: copies seem older after a restart.
  func note(_ milliseconds: UInt64) {
    let mustStart = queue.withLock { queue in
      if queue.writer.isClosed { return false }
      queue.next = milliseconds
      return queue.writer.start()
    }
    if mustStart { Task { [self] in await run() } }
  }

  private func run() async {
    while true {
      let (next, closers) = queue.withLock { queue -> (UInt64?, [CheckedContinuation<Void, Never>]) in
        if let next = queue.next {
          queue.next = nil
          return (next, [])
        }
        return (nil, queue.writer.end())
      }
      guard let next else {
        for closer in closers { closer.resume() }
        return
      }
      try? await storage.async.set(Int64(clamping: next), forKey: Self.key)
    }
  }
}

extension LeaseLog {
  /// Writes nothing any more once this returns.
  func close() async {
    await withCheckedContinuation { continuation in
      if queue.withLock({ $0.writer.close(continuation) }) { continuation.resume() }
    }
  }
}

/// The logs in which tiers keep copies.
final class LeaseLogs: Sendable {
  private static var pause: UInt64 { 1_000_000_000 }

  private let logs: Guarded<[ObjectIdentifier: LeaseLog]> = Guarded([:], .leaf)
  /// After which a lease is noted again.
  private let next = Atomic<UInt64>(.max)

  /// That of a store.
  func log(_ store: LogStore, _ keyspace: String) throws(StorageError) -> LeaseLog {
    let id = ObjectIdentifier(store)
    if let log = logs.withLock({ $0[id] }) { return log }
    let made = try LeaseLog(store, keyspace)
    next.store(0, ordering: .relaxed)
    return logs.withLock { logs in
      let log = logs[id] ?? made
      logs[id] = log
      return log
    }
  }

  /// A lease was granted: notes the present, by the server's clock, at most once a second, and only while all domains have a lease.
  func granted(_ domains: DomainTable, at now: RemoteInstant, _ milliseconds: () -> UInt64) {
    let due = next.load(ordering: .relaxed)
    guard now.nanoseconds >= due, (0..<domains.count).allSatisfy({ domains.leaseEnd(UInt16($0)) > now }),
      next.compareExchange(expected: due, desired: now.nanoseconds &+ Self.pause, ordering: .relaxed).exchanged
    else { return }
    let present = milliseconds()
    for log in logs.withLock({ Array($0.values) }) { log.note(present) }
  }

  /// Writes nothing any more once this returns, and lets go of all stores.
  func close() async {
    next.store(.max, ordering: .relaxed)
    let former = logs.withLock { logs in
      defer { logs = [:] }
      return Array(logs.values)
    }
    for log in former { await log.close() }
  }
}
