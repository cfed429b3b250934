import EskerLog
import EskerTestSupport
import Foundation
import Synchronization
import Testing

@testable import Esker

/// What becomes of values that wait ahead of a store, where writing them fails while the window is being closed.
@Suite struct WriteWindowTests {
  private typealias Window = WriteWindow<String, Int>

  private static let ioError = StorageError.store(.failed(operation: "write", path: "/store", errno: 5))

  private func key(_ text: String) -> WaitingKey<String> { WaitingKey(text, .none) }

  /// Closes a window while another thread's first write of it is under way, which then fails; `fails` says what later writes of a
  /// value fail of.
  private func close(
    holding values: [Int],
    laterFailures fails: @escaping @Sendable (Int) -> StorageError?
  ) -> (failure: StorageError?, written: [Int]) {
    let written = Collected<Int>()
    let hasStarted = DispatchSemaphore(value: 0)
    let mayFail = DispatchSemaphore(value: 0)
    let isFirst = Mutex(true)
    let window = Window(limit: 100, hub: nil) { (_, _, waiting) throws(StorageError) in
      if isFirst.withLock({ first in
        defer { first = false }
        return first
      }) {
        hasStarted.signal()
        mayFail.wait()
        throw Self.ioError
      }
      if let failure = fails(waiting.value) { throw failure }
      written.add(waiting.value)
    }
    let failure = Mutex<StorageError?>(nil)
    onThreads(2) { thread in
      if thread == 0 {
        for value in values { try? window.add(key("\(value)"), Window.Pending(value: value)) }
        hasStarted.wait()
        do throws(StorageError) { try window.close() } catch { failure.withLock { $0 = error } }
      } else {
        // A window that is being closed refuses what is added.
        #expect(eventually { (try? window.add(key("0"), Window.Pending(value: 0))) == nil })
        mayFail.signal()
      }
    }
    return (failure.withLock { $0 }, written.all.filter { $0 != 0 })
  }

  @Test func failureThatIsOverIsNotToldByAClose() {
    let outcome = close(holding: [1, 2, 3]) { _ in nil }
    #expect(outcome.failure == nil)
    #expect(outcome.written == [1, 2, 3])
  }

  @Test func valueThatIsLostIsToldEvenIfAnotherFailedBefore() {
    let lost = StorageError.rejected(key: "13", view: "n", underlying: CocoaError(.coderInvalidValue))
    let outcome = close(holding: [1, 13, 2]) { $0 == 13 ? lost : nil }
    guard case .rejected = outcome.failure else {
      Issue.record("not told of what is lost: \(String(describing: outcome.failure))")
      return
    }
    #expect(outcome.written == [1, 2])
  }
}
