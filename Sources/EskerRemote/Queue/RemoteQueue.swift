internal import Esker
internal import EskerLog
internal import EskerPlatform

/// The writes of the storages of one name that were acknowledged and are not at their owners yet: a record for each key in a keyspace of
/// a log, and what is known of it in memory.
///
/// **What is removed when.** A write is logged before it is acknowledged, and its record removed after the owner's answer, if it is still
/// that record: what was written meanwhile stays. A crash in between leaves the record, and its replay finds that it was done.
///
/// **What is trusted.** The core holds the keys that wait, so that nothing near is trusted; reads take the record.
final class RemoteQueue: Sendable {
  /// What the queue needs of its tiers: versions and the present by the servers' clocks.
  struct Clock: Sendable {
    let versions: VersionClock
    /// By the server of a domain.
    let milliseconds: @Sendable (UInt16) -> UInt64

    init(_ versions: VersionClock, milliseconds: @escaping @Sendable (UInt16) -> UInt64) {
      self.versions = versions
      self.milliseconds = milliseconds
    }

    func next(_ domain: UInt16) -> RemoteVersion { versions.next(at: milliseconds(domain)) }

    func follow(_ version: RemoteVersion, _ domain: UInt16) { versions.follow(version, at: milliseconds(domain)) }
  }

  struct State {
    var book = QueueBook()
    /// Whether there was a lease. The domains of keys are not known before.
    var isConnected = false
    var isStopped = false
    var waiters = QueueWaiters()
    var listeners = LossListeners()
    var timer: (end: RemoteInstant, task: Task<Void, Never>)?
  }

  let name: String
  let core: Coherence
  let clock: Clock
  let options: RemoteQueueOptions
  let records: LogStorage<[UInt8], QueuedRecord>
  /// Told what is known to be at the owner: what arrived, or nil where something unknown is.
  let near: @Sendable ([UInt8], RemoteValue?) async -> Void
  let state = Guarded(State(), .leaf)

  /// Opens the queue in a keyspace of a log, and takes up what an earlier process has left there.
  ///
  /// - Complexity: O(entries of the keyspace), or of the log if there are many.
  init(
    _ name: String,
    keyspace: String,
    of log: LogStore,
    _ core: Coherence,
    _ clock: Clock,
    _ options: RemoteQueueOptions,
    near: @escaping @Sendable ([UInt8], RemoteValue?) async -> Void
  ) throws(StorageError) {
    guard !log.isReadOnly else {
      throw .unsupported(operation: "queue writes in a log that is open for reading only", view: name)
    }
    guard log.statistics.settings.capacity == nil else {
      throw .unsupported(
        operation: "queue writes in a log with a capacity, which evicts them; give `RemoteQueueOptions` another log",
        view: name
      )
    }
    self.name = name
    self.core = core
    self.clock = clock
    self.options = options
    self.near = near
    let form = Transformer<QueuedRecord>(id: "esker.remote.queue") {
      $0.bytes
    } decode: { bytes throws in
      guard let record = QueuedRecord(bytes) else { throw UnreadableRecord() }
      return record
    }
    records = try LogStorage(log, keyspace, key: [UInt8].self, transformer: form)
    do throws(StoreError) { try load(log) } catch { throw .store(error) }
  }

  private func load(_ log: LogStore) throws(StoreError) {
    var found: [(key: [UInt8], entry: QueueBook.Entry)] = []
    for stored in try log.snapshot().entries(in: records.keyspace) {
      // Which key it is of is not known, so nothing can be kept from being written over it.
      guard let key = try? stored.key() else {
        state.withLock { $0.book.noteUnreadable() }
        continue
      }
      var record: QueuedRecord?
      try? stored.withBytes { (_, bytes) throws(StoreError) in record = QueuedRecord(bytes) }
      guard let record else {
        state.withLock { $0.book.noteUnreadable() }
        notify(key, .unreadable)
        continue
      }
      clock.follow(record.version, 0)
      found.append((key, entry(of: record, key, stored.version)))
    }
    found.sort { $0.entry.record < $1.entry.record }
    for (key, entry) in found {
      core.hold(key)
      state.withLock { $0.book.load(key, entry) }
    }
  }

  /// What the book notes of a record.
  private func entry(of record: QueuedRecord, _ key: [UInt8], _ sequence: SequenceNumber) -> QueueBook.Entry {
    let present = clock.milliseconds(0)
    let age = present > record.version.time ? present - record.version.time : 0
    let nanoseconds = Int64(clamping: age).multipliedReportingOverflow(by: 1_000_000)
    return QueueBook.Entry(
      record: sequence,
      version: record.version,
      size: record.size + key.count,
      since: Int64(clamping: core.now().nanoseconds) - (nanoseconds.overflow ? .max >> 1 : nanoseconds.partialValue)
    )
  }

  // MARK: Writing and reading

  /// Queues a write: once it returns, the intent is in the log, as durable as was asked, and reads see it.
  ///
  /// - Parameters:
  ///   - length: how many bytes `make` gives.
  ///   - base: asked for what is believed to be at the owner, if no write of the key waits.
  ///   - make: gives what is written, of that version; nil for a removal.
  nonisolated(nonsending) func add(
    _ key: RemoteKey,
    length: Int,
    base: nonisolated(nonsending) () async -> QueuedBase,
    durability: Durability?,
    _ make: @escaping @Sendable (RemoteVersion) -> RemoteValue?
  ) async throws(StorageError) -> QueuedRecord {
    let size = QueuedRecord.headLength + length + key.bytes.count
    let wasKnown = try announce(key.bytes, size)
    let base = await base()
    // From here on nothing near is trusted, so that no read misses what is logged next.
    core.hold(key.bytes)
    let logged: Result<(QueuedRecord, SequenceNumber), StoreError>
    if key.bytes.withBytes({ records.keyspace.mustWait(for: $0) }) {
      logged = await withCheckedContinuation { continuation in
        IOThreads.shared.submit { [self] in continuation.resume(returning: log(key, base, make)) }
      }
    } else {
      logged = log(key, base, make)
    }
    let entry = (try? logged.get()).map { self.entry(of: $0.0, key.bytes, $0.1) }
    let (hasBegun, isStopped) = state.withLock { state in
      (state.book.note(key.bytes, entry, size: size, wasKnown: wasKnown), state.isStopped)
    }
    // The core's hold is the entry's, which another writer may have begun.
    if !hasBegun { core.release(key.bytes) }
    if isStopped { grant(nil) }
    pump(liningUp: key.bytes)
    switch logged {
    case .failure(let error): throw .store(error)
    case .success(let (record, sequence)):
      do throws(StoreError) {
        try await records.keyspace.settleAsync(ViewWriteResult(isDone: true, sequence: sequence.rawValue), durability)
      } catch {
        throw .store(error)
      }
      return record
    }
  }

  private func announce(_ key: [UInt8], _ size: Int) throws(StorageError) -> Bool {
    let announced: Result<Bool, StorageError> = state.withLock { state in
      guard !state.isStopped else { return .failure(.back(name: name, underlying: RemoteError.stopped)) }
      let wasKnown = state.book.entries[key] != nil
      if let full = state.book.announce(key, size: size, options) {
        return .failure(.back(name: name, underlying: full))
      }
      return .success(wasKnown)
    }
    return try announced.get()
  }

  /// Logs the newest intent of a key, on what the one before it may have left, in one step.
  private func log(
    _ key: RemoteKey,
    _ base: QueuedBase,
    _ make: @Sendable (RemoteVersion) -> RemoteValue?
  ) -> Result<(QueuedRecord, SequenceNumber), StoreError> {
    var made: QueuedRecord?
    do throws(StoreError) {
      let sequence = try records.keyspace.update(forKey: key.bytes, durability: .buffered) {
        (bytes) throws(StoreError) -> Update in
        var old: QueuedRecord?
        if let bytes { old = QueuedRecord(bytes) }
        let record = record(key, base, after: old, make)
        made = record
        return .put(record.bytes, expiry: .never)
      }
      guard let made, let sequence else { return .failure(.cancelled) }
      return .success((made, sequence))
    } catch {
      guard case .damaged = error else { return .failure(error) }
      // What cannot be read was told as lost, and must not stand in the way.
      let record = record(key, base, after: nil, make)
      do throws(StoreError) {
        let sequence = try records.keyspace.put(record.bytes, forKey: key.bytes, expiry: .never, durability: .buffered)
        return .success((record, sequence))
      } catch {
        return .failure(error)
      }
    }
  }

  private func record(
    _ key: RemoteKey,
    _ base: QueuedBase,
    after old: QueuedRecord?,
    _ make: (RemoteVersion) -> RemoteValue?
  ) -> QueuedRecord {
    var version = clock.next(key.domain)
    var left = core.faults.contains(.keepBase) ? old?.base : old?.left
    if left == nil { left = state.withLock { $0.book.base(forWriterOf: key.bytes) } }
    if core.faults.contains(.forgetBase) { left = nil }
    // The later intent has the later version, even if a clock was put back between two starts of the process, or is behind that of
    // who wrote what it may find.
    for known in [old?.version, old?.base.found?.version, left?.found?.version] {
      if let known, !version.isLater(than: known) { version = known.successor(by: clock.versions.writer) }
    }
    return QueuedRecord(make(version), version: version, base: left ?? base)
  }

  /// What waits of a key; nil if nothing does.
  nonisolated(nonsending) func record(_ key: [UInt8]) async throws(StorageError) -> QueuedRecord? {
    guard state.withLock({ $0.book.entries[key] != nil }) else { return nil }
    // Nil if it was settled between the two.
    return try await records.asyncRead(key, StorageRequest.Read())?.value
  }

  // MARK: Looking at it

  var statistics: RemoteQueueStatistics {
    let now = Int64(clamping: core.now().nanoseconds)
    return state.withLock { $0.book.statistics(at: now) }
  }

  /// Adds who is told of losses, and tells what nobody has heard.
  func listen(_ listener: @escaping @Sendable ([UInt8], RemoteLoss) -> Void) -> UInt64 {
    let (number, undelivered) = state.withLock { $0.listeners.add(listener) }
    for (key, loss) in undelivered { listener(key, loss) }
    return number
  }

  func stopListening(_ number: UInt64) { state.withLock { $0.listeners.remove(number) } }

  /// Tells a loss.
  func notify(_ key: [UInt8], _ loss: RemoteLoss) {
    for listener in state.withLock({ $0.listeners.hearing(key, loss) }) { listener(key, loss) }
  }
}

/// Why a record of the queue cannot be read: it is of a later version of Esker, or no record at all.
struct UnreadableRecord: Error, CustomStringConvertible {
  var description: String { "it is no queued write of a form that this version knows" }
}
