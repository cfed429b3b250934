public import Esker
internal import EskerLog

extension RemoteTiers {
  /// The queue of the storages of a name, if any of them has one.
  func queue(_ name: String) -> RemoteQueue? { queues.withLock { $0[name] } }

  /// Opens the queue of a name, unless it is open.
  func openQueue(
    _ name: String,
    _ options: RemoteQueueOptions,
    _ log: LogStore?
  ) throws(StorageError) {
    if queue(name) != nil { return }
    guard let log = options.log ?? log else {
      throw .unsupported(
        operation: "queue writes without a log; give the storage or `RemoteQueueOptions` one",
        view: name
      )
    }
    try claims.claim(log, self.name, prefix, for: name)
    let scope = Array("\(name):".utf8).count
    let queue = try RemoteQueue(
      name,
      keyspace: "\(self.name)/\(prefix)\(name):queue",
      of: log,
      core,
      RemoteQueue.Clock(clock, milliseconds: presentTime),
      options,
      near: { [copies] in await copies.keep($1, forKey: Array($0[scope...]), of: name) }
    )
    let isFirst = queues.withLock { queues in
      guard queues[name] == nil else { return false }
      queues[name] = queue
      return true
    }
    guard isFirst else { return queue.abandon() }
    core.observeLeases()
    _ = observers.add { [weak queue] report in
      if case .leased(let range) = report { queue?.leased(range) }
    }
    // Leases that were granted before are not reported again at once.
    let domains = 0..<UInt16(clamping: store.domainCount)
    if domains.contains(where: { core.domains.generation($0) != 0 }) { queue.leased(domains) } else { queue.pump() }
  }

  /// Stops the queues, and what disconnects while they wait for what is under way.
  func stopQueues(_ disconnect: () async -> Void) async {
    let all = queues.withLock { Array($0.values) }
    for queue in all { queue.halt() }
    await disconnect()
    for queue in all { await queue.quiet() }
  }
}

extension RemoteStorage {
  /// What waits in the queue of writes; nil if the storages of this name have none.
  public var queueStatistics: RemoteQueueStatistics? { view.tiers.queue(name)?.statistics }

  /// Waits until every write that was acknowledged before the call has left the queue: it has arrived, was lost, which is reported, or was
  /// replaced by a later write of its key. At once if there is no queue.
  ///
  /// - Throws: ``/Esker/StorageError/cancelled`` if the task is cancelled; ``/Esker/StorageError/back(name:underlying:)`` with
  ///   ``RemoteError/stopped`` if the tiers are stopped.
  public func queueDrained() async throws(StorageError) { try await view.tiers.queue(name)?.drained() }
}
