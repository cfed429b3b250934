internal import Esker
internal import EskerLog
internal import EskerPlatform

/// Copies in a keyspace of a log: as they are stored remotely, with their envelopes. Nothing there is trusted by itself.
///
/// What is kept is written by a task, in the order in which it was kept. When too much waits, the rest is not written: what is there is
/// older then, which the next check finds.
final class NearLog<Key: StorageKey>: Sendable {
  private static var limit: Int { 1_024 }

  private let storage: LogStorage<Key, RemoteValue>
  private let staleMilliseconds: Int64
  private let queue: Guarded<Queue>

  private struct Queue {
    var items: [(key: Key, value: RemoteValue?, written: CheckedContinuation<Void, Never>?)] = []
    var isRunning = false
  }

  /// When copies of processes before this one were last known to be current.
  let leases: LeaseLog

  /// - Parameter stale: for how long what has expired is kept.
  init(_ store: LogStore, keyspace name: String, stale: Duration?, _ leases: LeaseLog) throws(StorageError) {
    let form = Transformer<RemoteValue>(id: "esker.remote") {
      $0.stored
    } decode: {
      RemoteValue(stored: $0.copied())
    }
    storage = try LogStorage(store, name, key: Key.self, transformer: form)
    self.leases = leases
    staleMilliseconds = Int64(clamping: (stale ?? .zero).wholeMilliseconds)
    queue = Guarded(Queue(), .leaf)
  }

  /// What is there, if anything can be read: a copy that cannot is as good as none.
  func value(_ key: Key) async -> RemoteValue? {
    guard let value = try? await storage.async.value(forKey: key), value.envelope != nil else { return nil }
    return value
  }

  /// Writes soon; nil removes.
  func keep(_ value: RemoteValue?, forKey key: Key) { add(value, key, nil) }

  /// Writes, and returns once what is there is what was given or something later; nil removes.
  func keepNow(_ value: RemoteValue?, forKey key: Key) async {
    await withCheckedContinuation { add(value, key, $0) }
  }

  private func add(_ value: RemoteValue?, _ key: Key, _ written: CheckedContinuation<Void, Never>?) {
    let mustStart = queue.withLock { queue in
      guard written != nil || queue.items.count < Self.limit else { return false }
      queue.items.append((key, value, written))
      defer { queue.isRunning = true }
      return !queue.isRunning
    }
    if mustStart { Task { [self] in await run() } }
  }

  private func run() async {
    while true {
      let items = queue.withLock { queue in
        defer { queue.items = [] }
        queue.isRunning = !queue.items.isEmpty
        return queue.items
      }
      if items.isEmpty { return }
      for (key, value, written) in items {
        await write(value, key)
        written?.resume()
      }
    }
  }

  /// What cannot be written is not there: a near copy less.
  private func write(_ value: RemoteValue?, _ key: Key) async {
    guard let value else {
      _ = try? await storage.async.removeValue(forKey: key)
      return
    }
    guard value.envelope != nil else { return }
    let expiry: Expiry =
      value.expiry == 0
      ? .never
      : .at(WallTime(millisecondsSince1970: Int64(clamping: value.expiry) &+ staleMilliseconds))
    try? await storage.async.set(value, forKey: key, expiry: expiry)
  }
}

extension Duration {
  /// Without fractions; 0 if negative.
  var wholeMilliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000)
    return overflow ? .max : product &+ UInt64(attoseconds / 1_000_000_000_000_000)
  }
}
