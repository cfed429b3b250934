import EskerTestSupport
import Foundation
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
}
