internal import EskerPlatform
internal import Synchronization

/// The readers of a store's changes, and the tasks that wait for the next write.
///
/// Invariant: before a segment leaves the list, each reader that has not read it gets a reference. Calls the writer, the
/// keydir, the catalog, commits and the environment. Thread safety: any thread.
///
/// Safety: a continuation is resumed exactly once: by ``enqueue(_:_:_:)`` if it is not put into the list, and otherwise
/// by the thread that removes it under the lock of `waiting`.
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
  /// True while a task waits for the next write.
  ///
  /// Relaxed: set under the writer's lock, which each write takes before it looks here.
  private let isAwaited = Atomic<Bool>(false)
  private let readers = Guarded(Readers(), .feeds)
  private let waiting = Guarded(Waiting(), .waiting)
  private let lastTicket = Atomic<UInt64>(0)

  init(_ writer: Writer) {
    self.writer = writer
  }

  // MARK: Readers

  /// Creates a reader of the changes after the write `since`, or from now on.
  func begin(since: UInt64?, keeping: Int, showsUnsynced: Bool) -> ChangeCursor {
    readers.withLock { readers in
      if readers.isEnded { return ChangeCursor(ChangeReader(failingWith: .closed)) }
      // Before it looks where history begins.
      if readers.cursors.isEmpty { writer.suspendReuse() }
      let cursor = ChangeCursor(ChangeReader(writer, since: since, keeping: keeping, showsUnsynced: showsUnsynced))
      readers.cursors.append(cursor)
      return cursor
    }
  }

  func remove(_ cursor: ChangeCursor) {
    readers.withLock { readers in
      let wasRead = !readers.cursors.isEmpty
      readers.cursors.removeAll { $0 === cursor }
      if wasRead, readers.cursors.isEmpty { writer.resumeReuse() }
    }
  }

  /// Gives each reader references to the segments that it has not read. Must be called before segments leave the list.
  ///
  /// - Parameter last: The write up to which all are in listed segments.
  func hold(through last: UInt64) {
    readers.withLock { readers in
      for cursor in readers.cursors { cursor.reader.withLock { $0.hold(writer, through: last) } }
    }
  }

  /// Ends readers that keep too many bytes of removed segments. Must be called after segments have left the list.
  func checkBounds() {
    readers.withLock { readers in
      guard !readers.cursors.isEmpty else { return }
      let listed = Set(writer.catalog.segments.map(\.id))
      for cursor in readers.cursors { cursor.reader.withLock { $0.checkBound(listed, writer) } }
    }
  }

  /// Makes readers end after the last write: the store is being closed.
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

  /// Suspends the task until there is a write with this number, the task is cancelled, or the store is closed.
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

  /// Runs under the writer's lock, so that the next write is either seen here or sees `isAwaited`.
  private func enqueue(
    _ continuation: WaiterList.Continuation,
    _ ticket: UInt64,
    _ next: UInt64
  ) {
    let isWaiting = writer.withLock { _ in
      waiting.withLock { waiting in
        // A cancellation before this point found no continuation to resume.
        guard !waiting.isEnded, !Task.isCancelled, writer.commits.publishedSequence < next,
          // Nobody would wake it for what another process writes.
          !writer.env.isFollowing
        else { return false }
        unsafe waiting.tasks.append(continuation, ticket: ticket, sequence: next)
        isAwaited.store(true, ordering: .relaxed)
        return true
      }
    }
    if !isWaiting { unsafe continuation.resume(returning: nil) }
  }

  /// Resumes all waiting tasks.
  @inline(never)
  func wake() {
    var tasks = waiting.withLock { waiting in
      isAwaited.store(false, ordering: .relaxed)
      defer { waiting.tasks = WaiterList() }
      return waiting.tasks
    }
    tasks.resumeAll(nil)
  }

  /// Whether a task waits for the next write.
  @inline(__always)
  var isWriteAwaited: Bool { isAwaited.load(ordering: .relaxed) }
}

/// The state of a reader of changes; shared with merges.
final class ChangeCursor: Sendable {
  let reader: Guarded<ChangeReader>

  init(_ reader: ChangeReader) {
    self.reader = Guarded(reader, .feed)
  }
}
