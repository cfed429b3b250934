internal import Esker
internal import EskerLog
internal import EskerPlatform

/// Copies in a keyspace of a log: as they are stored remotely, with their envelopes. Nothing there is trusted by itself. One for all views
/// of a name, so that what they keep has one order.
///
/// What is kept is written by a task, the last of each key alone, and is read from here until then. When too much waits, what was read
/// is not written: what is there is older then, which the next check finds. What a write of this process replaces always is.
final class NearLog: Sendable {
  private static let limit = 1_024
  /// Of how many keys it is remembered that they could not be written.
  private static let unwrittenLimit = 4_096

  private let keyspace: Keyspace
  private let queue: Guarded<Queue> = Guarded(Queue(), .leaf)

  /// What is to be written of a key.
  private struct Item {
    /// Nil: the copy is removed.
    var value: RemoteValue?
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private struct Queue {
    var items: [[UInt8]: Item] = [:]
    var order = Fifo<[UInt8]>()
    var underWay: (key: [UInt8], item: Item)?
    /// For how long what has expired is kept.
    var stale = Duration.zero
    var writer = SoleWriter()
    /// Keys of which the log may have something older than it should: it could not be written.
    var unwritten: Set<[UInt8]> = []
    /// There were too many of them.
    var isUseless = false

    /// What will be there; nil if nothing waits.
    func pending(_ key: [UInt8]) -> Item? { items[key] ?? (underWay?.key == key ? underWay?.item : nil) }
  }

  /// When copies of processes before this one were last known to be current.
  let leases: LeaseLog

  init(_ keyspace: Keyspace, _ leases: LeaseLog) {
    self.keyspace = keyspace
    self.leases = leases
  }

  /// From now on what has expired is kept for as long as this, or longer.
  func keepStale(for duration: Duration?) { queue.withLock { $0.stale = max($0.stale, duration ?? .zero) } }

  /// What is there, if anything can be read: a copy that cannot is as good as none.
  func value(_ key: [UInt8]) async -> RemoteValue? {
    let known: RemoteValue?? = queue.withLock { queue in
      if let item = queue.pending(key) { return .some(item.value) }
      return queue.isUseless || queue.unwritten.contains(key) ? .some(nil) : nil
    }
    if let known { return known }
    guard let bytes = try? await keyspace.async.get(key) else { return nil }
    let value = RemoteValue(stored: bytes)
    return value.envelope == nil ? nil : value
  }

  /// All copies that are there now.
  func copies() throws(StorageError) -> CopyCursor {
    do { return try CopyCursor(keyspace) } catch { throw .store(error) }
  }

  /// Writes what was read soon, or not at all; what has no version is removed.
  func fill(_ value: RemoteValue?, forKey key: [UInt8]) { add(value, key, isFill: true) }

  /// Writes what a write of this process has left soon; nil removes.
  func keep(_ value: RemoteValue?, forKey key: [UInt8]) { add(value, key, isFill: false) }

  private func add(_ value: RemoteValue?, _ key: [UInt8], isFill: Bool) {
    let mustStart = queue.withLock { queue in
      if queue.writer.isClosed { return false }
      if queue.items[key] != nil {
        queue.items[key]?.value = value
      } else {
        guard !isFill || queue.items.count < Self.limit else { return false }
        queue.items[key] = Item(value: value)
        queue.order.append(key)
      }
      return queue.writer.start()
    }
    if mustStart { Task { [self] in await run() } }
  }

  /// Returns once everything that was kept of a key is in the log, as far as it can be written.
  func settled(_ key: [UInt8]) async {
    await withCheckedContinuation { continuation in
      let isSettled = queue.withLock { queue in
        if queue.items[key] != nil {
          queue.items[key]?.waiters.append(continuation)
        } else if queue.underWay?.key == key {
          queue.underWay?.item.waiters.append(continuation)
        } else {
          return true
        }
        return false
      }
      if isSettled { continuation.resume() }
    }
  }

  /// Writes nothing any more once this returns.
  func close() async {
    await withCheckedContinuation { continuation in
      if queue.withLock({ $0.writer.close(continuation) }) { continuation.resume() }
    }
  }

  private func run() async {
    while let (key, item) = next() {
      let isWritten = await write(item, key)
      let waiters = queue.withLock { queue in
        defer { queue.underWay = nil }
        if isWritten {
          queue.unwritten.remove(key)
        } else if queue.unwritten.count < Self.unwrittenLimit {
          queue.unwritten.insert(key)
        } else {
          queue.isUseless = true
        }
        return queue.underWay?.item.waiters ?? []
      }
      for waiter in waiters { waiter.resume() }
    }
  }

  /// The next to be written, which is under way then.
  private func next() -> (key: [UInt8], item: Item)? {
    let (next, closers) = queue.withLock { queue -> ((key: [UInt8], item: Item)?, [CheckedContinuation<Void, Never>]) in
      if let key = queue.order.popFirst(), let item = queue.items.removeValue(forKey: key) {
        queue.underWay = (key, item)
        return ((key, item), [])
      }
      return (nil, queue.writer.end())
    }
    for closer in closers { closer.resume() }
    return next
  }

  /// Whether it could be written. No power failure is survived: what comes back then is checked, or stale.
  private func write(_ item: Item, _ key: [UInt8]) async -> Bool {
    do throws(StoreError) {
      if let value = item.value, value.envelope != nil {
        let end = WallTime(millisecondsSince1970: Int64(clamping: value.expiry))
        let expiry: Expiry = value.expiry == 0 ? .never : .at(end.advanced(by: queue.withLock { $0.stale }))
        do throws(StoreError) {
          try await keyspace.async.put(value.stored, forKey: key, expiry: expiry, durability: .buffered)
          return true
        } catch {
          // Too large, or no room: then there must not be an older one.
        }
      }
      try await keyspace.async.remove(key, durability: .buffered)
      return true
    } catch {
      return false
    }
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
