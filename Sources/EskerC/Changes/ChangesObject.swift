import CEsker
import EskerLog

/// A position among the writes to a store.
final class ChangesObject: HandleObject {
  static var kind: esker_handle_kind { ESKER_HANDLE_CHANGES }

  let state: Exclusive<State>

  init(_ store: LogStore, since: SequenceNumber?, keeping: Int, includingUnsynced: Bool) {
    let changes = store.changes(since: since, keeping: keeping, includingUnsynced: includingUnsynced)
    state = Exclusive(State(store, changes))
  }
}

extension ChangesObject {
  enum Step {
    case change(LogChange)
    case notYet
    case end
  }

  struct State: ~Copyable {
    /// What the change that is shown points to.
    var bytes = GrowingBytes()
    private let store: LogStore
    private let changes: LogStore.Changes

    init(_ store: LogStore, _ changes: LogStore.Changes) {
      self.store = store
      self.changes = changes
    }

    /// The next change.
    ///
    /// - Parameter milliseconds: For how long to wait for one; negative for as long as it takes.
    func next(waiting milliseconds: Int64) throws -> Step {
      if let change = try changes.poll() { return .change(change) }
      // Whether a store that is being closed has more to show is known once its last writes are durable, and not to who only looks.
      if milliseconds == 0 { return isClosed ? try wait(-1) : .notYet }
      return try wait(milliseconds)
    }

    private var isClosed: Bool {
      do throws(StoreError) {
        _ = try store.keyspaceNames
        return false
      } catch {
        return error == .closed
      }
    }

    /// Waits in a task, as whoever waits there is told of writes, and has them synced.
    private func wait(_ milliseconds: Int64) throws(StoreError) -> Step {
      let answer = TaskAnswer()
      let task = Task { [changes] in
        do throws(StoreError) {
          var iterator = changes.makeAsyncIterator()
          answer.give(.success(try await iterator.next()))
        } catch {
          answer.give(.failure(error))
        }
      }
      let ending: Step
      let found: TaskAnswer.Found
      if milliseconds < 0 {
        (found, ending) = (answer.wait(), .end)
      } else if let inTime = answer.wait(milliseconds: milliseconds) {
        (found, ending) = (inTime, .end)
      } else {
        // Once it is cancelled, it soon ends, with what it has found by then.
        task.cancel()
        (found, ending) = (answer.wait(), .notYet)
      }
      return try found.get().map { .change($0) } ?? ending
    }
  }
}
