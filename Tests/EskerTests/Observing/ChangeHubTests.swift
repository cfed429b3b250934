import Foundation
import Testing

@testable import Esker

@Suite struct ChangeHubTests {
  private func change(_ sequence: UInt64) -> ByteChange {
    ByteChange(sequence: sequence, key: [1], action: .put(before: nil, after: []))
  }

  @Test func changeIsToldOnlyWhenNoEarlierOneCanCome() throws {
    try withTemporaryStore { store in
      try store.put("x", forKey: "y")
      let hub = HubRegistry.hub(of: store.default)
      let heard = Collected<UInt64>()
      let observation = try hub.observe(key: nil) { heard.add($0.sequence) }
      let last = store.lastSequence.rawValue
      let first = hub.enterWrite()
      let second = hub.enterWrite()
      let third = hub.enterWrite()
      hub.leaveWrite(third, change(last + 3))
      hub.leaveWrite(second, change(last + 2))
      usleep(50_000)
      #expect(heard.all.isEmpty)
      hub.leaveWrite(first, change(last + 1))
      #expect(heard.reach(3))
      #expect(heard.all == [last + 1, last + 2, last + 3])
      observation.cancel()
    }
  }

  @Test func writeThatChangedNothingHoldsNothingUp() throws {
    try withTemporaryStore { store in
      let hub = HubRegistry.hub(of: store.default)
      let heard = Collected<UInt64>()
      let observation = try hub.observe(key: nil) { heard.add($0.sequence) }
      let first = hub.enterWrite()
      let second = hub.enterWrite()
      hub.leaveWrite(second, change(2))
      hub.leaveWrite(first, nil)
      #expect(heard.reach(1))
      observation.cancel()
    }
  }

  @Test func hubGoesWithItsLastViewAndIsMadeAnew() throws {
    try withTemporaryStore { store in
      weak var hub: ChangeHub?
      do {
        let strong = HubRegistry.hub(of: store.default)
        hub = strong
        #expect(strong === HubRegistry.hub(of: store.default))
      }
      #expect(hub == nil)
      _ = HubRegistry.hub(of: store.default)
    }
  }
}
