import EskerPlatform
import EskerTestSupport
import Foundation
import Synchronization
import Testing

@testable import Esker

@Suite struct IOThreadsTests {
  private final class Dying: Sendable {
    private let atEnd: @Sendable () -> Void

    init(atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }

    deinit { atEnd() }
  }

  @Test func whatAJobHoldsMaySubmitAnotherAsItGoes() {
    let ran = DispatchSemaphore(value: 0)
    for _ in 0..<50 {
      let dying = Dying { IOThreads.shared.submit { ran.signal() } }
      IOThreads.shared.submit { withExtendedLifetime(dying) {} }
    }
    for _ in 0..<50 { #expect(eventually { ran.wait(timeout: .now()) == .success }) }
  }

  /// Others that end all the time do not make those that are stuck any less so.
  @Test func stuckCallsTakeNoThreadsFromOthers() {
    let threads = IOThreads()
    let (entered, gate) = (Collected<Int>(), DispatchSemaphore(value: 0))
    let goesOn = Mutex(true)
    @Sendable func goOn() { if goesOn.withLock({ $0 }) { threads.submit { goOn() } } }
    for _ in 0..<4 { goOn() }
    for number in 0..<40 {
      threads.submit {
        entered.add(number)
        gate.wait()
      }
    }
    #expect(eventually { entered.count == 40 })
    goesOn.withLock { $0 = false }
    for _ in 0..<40 { gate.signal() }
  }
}
