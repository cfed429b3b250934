public import Esker

extension RemoteStorage {
  /// Checks all copies in the log, many in one message, as a process may do after a restart: one that is current is then served without a
  /// question, until something is reported of it. What has changed is read when it is asked for. Reads and writes go on meanwhile.
  ///
  /// It is known of as many copies as the tiers' `verifiedCapacity` says that they are current; others are checked again when they are
  /// read. A check costs the key and 40 bytes sent, and 31 received.
  ///
  /// - Returns: How many copies are current; 0 without a log.
  /// - Throws: ``/Esker/StorageError/back(name:underlying:)`` if the remote store did not answer in time; copies that were checked before stay
  ///   so. ``/Esker/StorageError/cancelled`` if the task is.
  /// - Complexity: O(entries of the log store) to find the copies.
  @discardableResult
  public func checkCopies() async throws(StorageError) -> Int { try await view.checkCopies() }
}

extension RemoteView {
  /// Of how many copies at once it is asked. Two batches are under way: one is read and encoded while the other is on its way.
  private static var batch: Int { 1_024 }

  @usableFromInline
  nonisolated(nonsending) func checkCopies() async throws(StorageError) -> Int {
    guard let log else { return 0 }
    let copies = try log.copies()
    var current = 0
    var underWay: Task<Result<Int, RemoteError>, Never>?
    while true {
      if Task.isCancelled { throw .cancelled }
      let batch = try await copies.next(Self.batch)
      if let outcome = await underWay?.value {
        do throws(RemoteError) { current += try outcome.get() } catch { throw error.storageError(of: name) }
      }
      if batch.isEmpty { return current }
      underWay = Task { [core, tiers, scope, number, options] in
        let asked = batch.map { (key: tiers.store.key(scope + $0.key), version: $0.version) }
        return await core.check(asked, view: number, by: core.now().advanced(by: options.hardTimeout))
      }
    }
  }
}
