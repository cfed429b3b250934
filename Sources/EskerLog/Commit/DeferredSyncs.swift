internal import CEskerShims
internal import EskerPlatform

/// The syncs that a thread leaves for a task to wait for, so that the thread is free for others meanwhile.
///
/// Within ``collect(_:)`` a write with the durability of its store returns once it is logged, and ``settle()`` waits for all
/// such writes together. Only what the body calls on its own thread is meant, and a write that names its durability waits as
/// ever.
///
/// Safety: C keeps one pointer per thread, to an object on whose method the thread is: ``collect(_:)`` puts the previous
/// pointer back before it returns, so the object is alive as long as the thread can find it.
package final class DeferredSyncs: Sendable {
  private let pending = Guarded<[(committer: AsyncCommitter, sequence: UInt64)]>([], .leaf)

  /// Of nothing yet.
  package init() {}

  /// Runs `body`, keeping what its writes would wait for.
  package func collect<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
    // This object outlives the call, which puts back what was there before.
    let outer = unsafe esker_deferred_exchange(Unmanaged.passUnretained(self).toOpaque())
    defer { _ = unsafe esker_deferred_exchange(outer) }
    return try body()
  }

  /// Runs `body`, which is not Esker's and may rely on a write that has returned, with writes that wait themselves.
  package static func suspend<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
    let outer = unsafe esker_deferred_exchange(nil)
    defer { _ = unsafe esker_deferred_exchange(outer) }
    return try body()
  }

  /// Waits until all that was collected is durable, holding no thread and whether or not the task is cancelled.
  ///
  /// - Throws: the first failure, when all have ended.
  package func settle() async throws(StoreError) {
    var failure: StoreError?
    for (committer, sequence) in pending.withLock({ $0 }) {
      do throws(StoreError) { try await committer.waitDurable(sequence, isAbandonable: false) } catch {
        failure = failure ?? error.ofLoggedWrite
      }
    }
    if let failure { throw failure }
  }

  /// Whether this thread's writes are to leave their syncs.
  static var isCollecting: Bool { unsafe esker_deferred_current() != nil }

  /// Leaves the sync of a write to a task; false when nobody would wait for it.
  static func leave(_ sequence: UInt64, of committer: AsyncCommitter) -> Bool {
    guard let current = unsafe esker_deferred_current() else { return false }
    unsafe Unmanaged<DeferredSyncs>.fromOpaque(current).takeUnretainedValue().add(sequence, committer)
    return true
  }

  private func add(_ sequence: UInt64, _ committer: AsyncCommitter) {
    // Durability is a prefix: the last write of a store stands for those before it.
    pending.withLock { pending in
      if let place = pending.firstIndex(where: { $0.committer === committer }) {
        pending[place].sequence = sequence
      } else {
        pending.append((committer, sequence))
      }
    }
  }
}
