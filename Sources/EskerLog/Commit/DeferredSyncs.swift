internal import CEskerShims
internal import EskerPlatform

/// Defers the syncs of a thread's writes to a task, which waits for them without blocking the thread.
///
/// Within ``collect(_:)`` a write with the store's durability returns once it is logged, and ``settle()`` waits for all
/// such writes together. This applies only to writes on the thread that runs the body; a write that specifies its
/// durability waits as usual.
///
/// Safety: C keeps one pointer per thread, to the object whose ``collect(_:)`` the thread is running. That puts the
/// previous pointer back before it returns, so the object is alive as long as the thread can find it.
package final class DeferredSyncs: Sendable {
  private let pending = Guarded<[(committer: AsyncCommitter, sequence: UInt64)]>([], .leaf)

  package init() {}

  /// Runs `body`, collecting the syncs that its writes would wait for.
  package func collect<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
    let outer = unsafe esker_deferred_exchange(Unmanaged.passUnretained(self).toOpaque())
    defer { _ = unsafe esker_deferred_exchange(outer) }
    return try body()
  }

  /// Runs `body` so that its writes wait for their syncs: it is the caller's code, and may rely on durability once a
  /// write has returned.
  package static func suspend<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
    let outer = unsafe esker_deferred_exchange(nil)
    defer { _ = unsafe esker_deferred_exchange(outer) }
    return try body()
  }

  /// Waits until everything collected is durable, without blocking a thread, even if the task is cancelled.
  ///
  /// - Throws: The first failure, after all have ended.
  package func settle() async throws(StoreError) {
    var failure: StoreError?
    for (committer, sequence) in pending.withLock({ $0 }) {
      do throws(StoreError) { try await committer.waitDurable(sequence, isAbandonable: false) } catch {
        failure = failure ?? error.ofLoggedWrite
      }
    }
    if let failure { throw failure }
  }

  /// Whether this thread's writes defer their syncs.
  static var isCollecting: Bool { unsafe esker_deferred_current() != nil }

  /// Defers the sync of a write; false if this thread does not collect them.
  static func leave(_ sequence: UInt64, of committer: AsyncCommitter) -> Bool {
    guard let current = unsafe esker_deferred_current() else { return false }
    unsafe Unmanaged<DeferredSyncs>.fromOpaque(current).takeUnretainedValue().add(sequence, committer)
    return true
  }

  private func add(_ sequence: UInt64, _ committer: AsyncCommitter) {
    // Everything before a durable write is durable too, so the last write of a store is enough. A value that was not written
    // again adds an earlier one.
    pending.withLock { pending in
      if let place = pending.firstIndex(where: { $0.committer === committer }) {
        pending[place].sequence = max(pending[place].sequence, sequence)
      } else {
        pending.append((committer, sequence))
      }
    }
  }
}
