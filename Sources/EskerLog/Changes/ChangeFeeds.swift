internal import EskerPlatform
internal import Synchronization

/// The readers of a store's changes, and the tasks among them that wait for the next write.
///
/// Locks, in the order in which they may be taken: `readers`, a reader's, the engine's `writer`, `manifests` and `segments`;
/// and `waiting` after `writer`. The engine's `opening` is taken before all of them.
final class ChangeFeeds: Sendable {
  private struct Readers {
    var cursors: [ChangeCursor] = []
    var isEnded = false
  }

  private struct Waiting {
    var tasks = WaiterList()
    var isEnded = false
  }

  private let readers = Guarded(Readers(), .feeds)
  private let waiting = Guarded(Waiting(), .waiting)
  private let lastTicket = Atomic<UInt64>(0)

  // MARK: Readers

  /// A new reader, from behind the write `since`, or from now on.
  func begin(_ engine: Engine, since: UInt64?, keeping: Int, showsUnsynced: Bool) -> ChangeCursor {
    readers.withLock { readers in
      if readers.isEnded { return ChangeCursor(ChangeReader(failingWith: .closed)) }
      let cursor = ChangeCursor(ChangeReader(engine, since: since, keeping: keeping, showsUnsynced: showsUnsynced))
      readers.cursors.append(cursor)
      return cursor
    }
  }

  func remove(_ cursor: ChangeCursor) {
    readers.withLock { readers in readers.cursors.removeAll { $0 === cursor } }
  }

  /// Before segments leave the list: each reader takes hold of those that it has not read.
  ///
  /// - Parameter last: up to here, writes are in listed segments.
  func hold(_ engine: Engine, through last: UInt64) {
    readers.withLock { readers in
      for cursor in readers.cursors { cursor.reader.withLock { $0.hold(engine, through: last) } }
    }
  }

  /// After segments left the list: cuts off the readers that keep too much of them.
  func checkBounds(_ engine: Engine) {
    readers.withLock { readers in
      guard !readers.cursors.isEmpty else { return }
      let listed = Set(engine.segments.withLock { $0.map(\.id) })
      for cursor in readers.cursors { cursor.reader.withLock { $0.checkBound(listed, engine) } }
    }
  }

  /// Nothing is written any more: readers end behind the last write.
  func end(_ engine: Engine) {
    readers.withLock { readers in
      guard !readers.isEnded else { return }
      readers.isEnded = true
      for cursor in readers.cursors { cursor.reader.withLock { $0.end(engine) } }
    }
    waiting.withLock { $0.isEnded = true }
    wake(engine)
  }

  // MARK: Tasks

  /// Suspends the task until there is a write with that number, it is cancelled, or the store is closed.
  func wait(for next: UInt64, _ engine: Engine) async {
    let ticket = lastTicket.wrappingAdd(1, ordering: .relaxed).newValue
    _ = await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { continuation in
        unsafe enqueue(continuation, ticket, next, engine)
      }
    } onCancel: {
      let continuation = unsafe waiting.withLock { unsafe $0.tasks.remove(ticket: ticket) }
      unsafe continuation?.resume(returning: nil)
    }
  }

  /// Under the writer's lock, so that the next write either is seen here or sees `isWriteAwaited`.
  private func enqueue(
    _ continuation: WaiterList.Continuation,
    _ ticket: UInt64,
    _ next: UInt64,
    _ engine: Engine
  ) {
    let isWaiting = engine.writer.withLock { _ in
      waiting.withLock { waiting in
        // A cancellation that came before this found nobody to resume.
        guard !waiting.isEnded, !Task.isCancelled, engine.publishedSequence < next else { return false }
        unsafe waiting.tasks.append(continuation, ticket: ticket, sequence: next)
        engine.isWriteAwaited.store(true, ordering: .relaxed)
        return true
      }
    }
    if !isWaiting { unsafe continuation.resume(returning: nil) }
  }

  /// Resumes all tasks that wait.
  func wake(_ engine: Engine) {
    var tasks = waiting.withLock { waiting in
      engine.isWriteAwaited.store(false, ordering: .relaxed)
      defer { waiting.tasks = WaiterList() }
      return waiting.tasks
    }
    tasks.resumeAll(nil)
  }
}

extension Engine {
  /// Called after each write, without a lock.
  @inline(__always)
  func tellFeeds() {
    if isWriteAwaited.load(ordering: .relaxed) { wakeFeeds() }
  }

  @inline(never)
  private func wakeFeeds() {
    feeds.wake(self)
  }
}
