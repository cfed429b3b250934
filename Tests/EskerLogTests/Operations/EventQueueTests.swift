import Synchronization
import Testing

@testable import EskerLog

@Suite struct EventQueueTests {
  private final class Heard: Sendable {
    private let events = Mutex<[StoreEvent]>([])
    var count: Int { events.withLock { $0.count } }
    func add(_ event: StoreEvent) { events.withLock { $0.append(event) } }
  }

  private let event = StoreEvent.mergeBegan(segments: [1])

  @Test func nothingIsDeliveredBeforeTheLastHoldEnds() {
    let heard = Heard()
    let queue = EventQueue { heard.add($0) }
    queue.hold()
    #expect(queue.add(event))
    // The hold of the opening ends; the other remains.
    queue.begin()
    queue.deliver()
    #expect(heard.count == 0)
    queue.begin()
    #expect(heard.count == 1)
    #expect(queue.add(event))
    queue.deliver()
    #expect(heard.count == 2)
  }

  @Test func aHoldThatBeginsDuringADeliveryEndsIt() {
    let heard = Heard()
    let reference = Mutex<EventQueue?>(nil)
    let queue = EventQueue { event in
      heard.add(event)
      if heard.count == 1 { reference.withLock { $0 }?.hold() }
    }
    reference.withLock { $0 = queue }
    defer { reference.withLock { $0 = nil } }
    #expect(queue.add(event) && queue.add(event))
    queue.begin()
    #expect(heard.count == 1)
    queue.deliver()
    #expect(heard.count == 1)
    queue.begin()
    #expect(heard.count == 2)
  }
}
