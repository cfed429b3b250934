import Esker
import EskerTestSupport
import Foundation
import Testing

/// The error that `body` throws; records an issue when it throws none or one of another type.
func failure<R>(
  of body: () throws -> R,
  sourceLocation: SourceLocation = #_sourceLocation
) -> StorageError? {
  do {
    _ = try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch let error as StorageError {
    return error
  } catch {
    Issue.record("\(error) is not a storage error", sourceLocation: sourceLocation)
  }
  return nil
}

/// Collects what several threads hand in.
final class Collected<Element: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var elements: [Element] = []

  func add(_ element: Element) { lock.withLock { elements.append(element) } }

  var all: [Element] { lock.withLock { elements } }

  var count: Int { lock.withLock { elements.count } }

  /// Waits until there are that many; false if there never are.
  func reach(_ count: Int) -> Bool { eventually { self.count >= count } }
}

/// Runs `body` on several threads at once and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  DispatchQueue.concurrentPerform(iterations: count, execute: body)
}

/// Runs `body` on as many new threads at once, however few processors there are, and waits for all without holding a thread
/// of the cooperative pool, so that `body` may wait for tasks.
func onThreadsOfTheirOwn(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread {
      body(number)
      group.leave()
    }.start()
  }
  await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
}
