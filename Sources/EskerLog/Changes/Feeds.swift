internal import EskerPlatform
internal import Synchronization

/// The readers of a store's changes, and the tasks among them that wait for the next write.
///
/// Keeps: what a reader has not read is held for it before it leaves the list. Calls the writer, the keydir, the catalog, commits
/// and the environment. Thread safety: any thread.
///
/// Safety: a continuation is resumed exactly once: by ``enqueue(_:_:_:)`` if it does not go to the list, and otherwise by
/// whoever takes it out under the lock of `waiting`.
final class Feeds: Sendable {
  private struct Readers {
    var cursors: [ChangeCursor] = []
    var isEnded = false
  }

  private struct Waiting {
    var tasks = WaiterList()
    var isEnded = false
  }

  private let writer: Writer
  /// True while somebody waits for the next write.
  private let isAwaited = Atomic<Bool>(false)
  private let readers = Guarded(Readers(), .feeds)
  private let waiting = Guarded(Waiting(), .waiting)
  private let lastTicket = Atomic<UInt64>(0)

  init(_ writer: Writer) {
    self.writer = writer
  }

  // MARK: Readers

  /// A new reader, from behind the write `since`, or from now on.
  func begin(since: UInt64?, keeping: Int, showsUnsynced: Bool) -> ChangeCursor {
    readers.withLock { readers in
      if readers.isEnded { return ChangeCursor(ChangeReader(failingWith: .closed)) }
      let cursor = ChangeCursor(ChangeReader(writer, since: since, keeping: keeping, showsUnsynced: showsUnsynced))
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
  func hold(through last: UInt64) {
    readers.withLock { readers in
      for cursor in readers.cursors { cursor.reader.withLock { $0.hold(writer, through: last) } }
    }
  }

  /// After segments left the list: cuts off the readers that keep too much of them.
  func checkBounds() {
    readers.withLock { readers in
      guard !readers.cursors.isEmpty else { return }
      let listed = Set(writer.catalog.segments.map(\.id))
      for cursor in readers.cursors { cursor.reader.withLock { $0.checkBound(listed, writer) } }
    }
  }

  /// Nothing is written any more: readers end behind the last write.
  func end() {
    readers.withLock { readers in
      guard !readers.isEnded else { return }
      readers.isEnded = true
      for cursor in readers.cursors { cursor.reader.withLock { $0.end(writer) } }
    }
    waiting.withLock { $0.isEnded = true }
    wake()
  }

  // MARK: Tasks

  /// Suspends the task until there is a write with that number, it is cancelled, or the store is closed.
  func wait(for next: UInt64) async {
    let ticket = lastTicket.wrappingAdd(1, ordering: .relaxed).newValue
    _ = await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { continuation in
        unsafe enqueue(continuation, ticket, next)
      }
    } onCancel: {
      let continuation = unsafe waiting.withLock { unsafe $0.tasks.remove(ticket: ticket) }
      unsafe continuation?.resume(returning: nil)
    }
  }

  /// Under the writer's lock, so that the next write either is seen here or sees `isAwaited`.
  private func enqueue(
    _ continuation: WaiterList.Continuation,
    _ ticket: UInt64,
    _ next: UInt64
  ) {
    let isWaiting = writer.withLock { _ in
      waiting.withLock { waiting in
        // A cancellation that came before this found nobody to resume.
        guard !waiting.isEnded, !Task.isCancelled, writer.commits.publishedSequence < next else { return false }
        unsafe waiting.tasks.append(continuation, ticket: ticket, sequence: next)
        isAwaited.store(true, ordering: .relaxed)
        return true
      }
    }
    if !isWaiting { unsafe continuation.resume(returning: nil) }
  }

  /// Resumes all tasks that wait.
  @inline(never)
  func wake() {
    var tasks = waiting.withLock { waiting in
      isAwaited.store(false, ordering: .relaxed)
      defer { waiting.tasks = WaiterList() }
      return waiting.tasks
    }
    tasks.resumeAll(nil)
  }

  /// Called after each write, without a lock.
  @inline(__always)
  func tell() {
    if isAwaited.load(ordering: .relaxed) { wake() }
  }

  /// Whether a task waits for the next write.
  var isWriteAwaited: Bool { isAwaited.load(ordering: .relaxed) }
}

/// Where a reader of changes stands; shared with merges.
final class ChangeCursor: Sendable {
  let reader: Guarded<ChangeReader>

  init(_ reader: ChangeReader) {
    self.reader = Guarded(reader, .feed)
  }
}
