import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Reads that found the store open, and then were overtaken by a close: they find nothing, or that it is closed, and look at no
/// record. Debug builds end the process otherwise.
@Suite(.timeLimit(.minutes(60))) struct ReadsBesideCloseTests {
  private static let keys = (0..<20).map { "key \($0)" }

  private func filled(_ machine: Machine) throws -> LogStore {
    let store = try machine.open()
    for key in Self.keys { try store.put([UInt8](repeating: 1, count: 300), forKey: key) }
    return store
  }

  @Test func aGroupOfKeysOfAClosedStore() throws {
    let store = try filled(Machine())
    try store.close()
    #expect(throws: StoreError.closed) { _ = try store.get(Self.keys) }
  }

  /// A clock that does something when it is asked for the second time.
  private final class HookedClock: SystemClock {
    let clock = FakeClock()
    private let hook = Guarded<(calls: Int, body: @Sendable () -> Void)?>(nil)

    func onSecondCall(_ body: (@Sendable () -> Void)?) { hook.withLock { $0 = body.map { (0, $0) } } }

    func wallMilliseconds() -> Int64 { clock.wallMilliseconds() }

    func monotonicNanoseconds() -> UInt64 {
      let body = hook.withLock { hook in
        hook?.calls += 1
        return hook?.calls == 2 ? hook?.body : nil
      }
      body?()
      return clock.monotonicNanoseconds()
    }
  }

  @Test func theSecondLookForWhatHasExpired() throws {
    let clock = HookedClock()
    let host = StoreHost(platform: .simulated(fileSystem: SimulatedDisk(), clock: clock), background: .inline)
    var options = Options()
    options.clock = Options.Clock(clock.clock)
    let store = try LogStore(at: "/store", options: options, host: host)
    try store.put("v", forKey: "brief", expiry: .after(.milliseconds(1)))
    clock.clock.advance(milliseconds: 1_000)
    let isClosed = SharedFlag()
    // A call that is timed asks when it begins, and when it has looked for what has not expired.
    var error: (any Error)?
    let key = Array("brief".utf8)
    for _ in 0..<10_000 where !isClosed.isRaised {
      clock.onSecondCall {
        store.probe.kill()
        isClosed.raise()
      }
      do {
        let isFound = try unsafe key.withUnsafeBytes { try unsafe store.core.leaseEvenExpired($0) != nil }
        #expect(isFound)
      } catch let failure {
        error = failure
      }
    }
    #expect(isClosed.isRaised)
    #expect(error as? StoreError == .closed)
  }

  @Test func looksAheadOfReadsAndWrites() throws {
    for _ in 0..<100 {
      var machine = Machine()
      machine.pageCacheRoom = 0
      let store = try filled(machine)
      let started = SharedCounter()
      let errors = try onThreads(4) { thread in
        if thread == 0 {
          while started.value < 3 { Platform.yieldThread() }
          try store.close()
          return
        }
        started.add()
        let key = Array(Self.keys[thread].utf8)
        do throws(StoreError) {
          while !store.engine.env.isClosed {
            switch thread {
            case 1: for _ in 0..<50 { _ = store.probe.mustWait(for: Self.keys[3]) }
            case 2: for _ in 0..<50 { unsafe key.withUnsafeBytes { unsafe store.core.touch($0) } }
            default: for _ in 0..<50 { _ = try store.get(Self.keys) }
            }
          }
        } catch {
          guard error == .closed else { throw error }
        }
      }
      #expect(errors.isEmpty, "\(errors)")
    }
  }
}
