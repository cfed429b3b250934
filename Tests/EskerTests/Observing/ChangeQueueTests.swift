import EskerTestSupport
import Foundation
import Testing

@testable import Esker

@Suite struct ChangeQueueTests {
  private typealias Queue = ChangeQueue<String, Int>

  /// Collects what an observer hears, missed changes as negative numbers.
  private func note(_ told: Queue.Notice, in heard: Collected<Int>) {
    switch told {
    case .changes(let numbers, _): numbers.forEach { heard.add($0) }
    case .missed(let count): heard.add(-count)
    case .ended: break
    }
  }

  @Test func sourceFeedsFromTheFirstObserverToTheLast() throws {
    let queue = Queue { _ in 0 }
    let fed = Collected<Bool>()
    let first = try queue.observe("a", feed: { fed.add($0) }, { _ in })
    let second = try queue.observe(nil, feed: { fed.add($0) }, { _ in })
    #expect(fed.all == [true])
    first.cancel()
    first.cancel()
    #expect(fed.all == [true])
    second.cancel()
    #expect(fed.all == [true, false])
    let third = try queue.observe(nil, feed: { fed.add($0) }, { _ in })
    #expect(fed.all == [true, false, true])
    third.cancel()
  }

  @Test func sourceThatCannotFeedLeavesNoObserver() throws {
    let queue = Queue { _ in 0 }
    #expect(throws: StorageError.self) {
      try queue.observe(nil, feed: { _ throws(StorageError) in throw .cancelled }, { _ in })
    }
    queue.add("a") {
      Issue.record("made for nobody")
      return 1
    }
  }

  @Test func changeThatConcernsNobodyIsNotMade() throws {
    let queue = Queue { _ in 0 }
    let heard = Collected<Int>()
    let observation = try queue.observe("a", feed: { _ in }) { note($0, in: heard) }
    queue.add("b") {
      Issue.record("made for nobody")
      return 1
    }
    queue.add("a") { 2 }
    queue.add(nil) { 3 }
    #expect(heard.reach(2))
    #expect(heard.all == [2, 3])
    observation.cancel()
  }

  @Test func observerHearsNothingFromBeforeItCame() throws {
    let queue = Queue { _ in 0 }
    let gate = DispatchSemaphore(value: 0)
    let early = Collected<Int>()
    let late = Collected<Int>()
    let first = try queue.observe(nil, feed: { _ in }) {
      note($0, in: early)
      gate.wait()
    }
    queue.add("a") { 1 }
    #expect(early.reach(1))
    // Waits while the first is told the one before it.
    queue.add("a") { 2 }
    let second = try queue.observe(nil, feed: { _ in }) { note($0, in: late) }
    queue.add("a") { 3 }
    for _ in 0..<3 { gate.signal() }
    #expect(early.reach(3) && late.reach(1))
    #expect(early.all == [1, 2, 3] && late.all == [3])
    first.cancel()
    second.cancel()
  }

  @Test func whatIsMissedIsCountedForEachObserverBehindWhatCameBefore() throws {
    let queue = Queue { _ in 0 }
    let gate = DispatchSemaphore(value: 0)
    let started = Collected<Int>()
    let all = Collected<Int>()
    let ofA = Collected<Int>()
    let ofB = Collected<Int>()
    let blocker = try queue.observe("block", feed: { _ in }) { _ in
      started.add(1)
      gate.wait()
    }
    let observations = [
      try queue.observe(nil, feed: { _ in }) { note($0, in: all) },
      try queue.observe("a", feed: { _ in }) { note($0, in: ofA) },
      try queue.observe("b", feed: { _ in }) { note($0, in: ofB) },
    ]
    queue.add("block") { 0 }
    #expect(started.reach(1))
    for number in 1...Queue.capacity { queue.add("a") { number } }
    for _ in 0..<10 { queue.add("a") { 1 } }
    for _ in 0..<5 { queue.add("b") { 1 } }
    queue.add(nil) { 1 }
    for _ in 0..<2 { gate.signal() }
    #expect(all.reach(Queue.capacity + 2) && ofA.reach(Queue.capacity + 1) && ofB.reach(1))
    queue.add("b") { 7 }
    #expect(all.reach(Queue.capacity + 3) && ofB.reach(2))
    #expect(all.all.elementsEqual(Array(0...Queue.capacity) + [-16, 7]))
    #expect(ofA.all.elementsEqual(Array(1...Queue.capacity) + [-11]))
    #expect(ofB.all == [-6, 7])
    for observation in observations { observation.cancel() }
    blocker.cancel()
  }

  @Test func bytesThatWaitAreBounded() throws {
    let queue = Queue { $0 }
    let gate = DispatchSemaphore(value: 0)
    let heard = Collected<Int>()
    let observation = try queue.observe(nil, feed: { _ in }) {
      note($0, in: heard)
      gate.wait()
    }
    queue.add("a") { 0 }
    #expect(heard.reach(1))
    let half = Queue.byteCapacity / 2
    for _ in 0..<4 { queue.add("a") { half } }
    // Small, but behind what is missed.
    queue.add("a") { 1 }
    for _ in 0..<4 { gate.signal() }
    #expect(heard.reach(4))
    #expect(heard.all == [0, half, half, -3])
    observation.cancel()
    gate.signal()
  }

  // MARK: Batches

  private struct Heard: Equatable {
    var numbers: [Int]
    var batch: UInt64?
  }

  /// Collects what an observer of batches hears, missed changes as a negative number.
  private func note(_ told: Queue.Notice, in heard: Collected<Heard>) {
    switch told {
    case .changes(let numbers, let batch): heard.add(Heard(numbers: numbers, batch: batch))
    case .missed(let count): heard.add(Heard(numbers: [-count]))
    case .ended: break
    }
  }

  @Test func aBatchIsDeliveredAtOnceToThoseWhoTakeIt() throws {
    let queue = Queue { _ in 0 }
    let (all, ofA, ofC, single) = (Collected<Heard>(), Collected<Heard>(), Collected<Heard>(), Collected<Int>())
    let observations = [
      try queue.observe(nil, takesBatches: true, feed: { _ in }) { note($0, in: all) },
      try queue.observe("a", takesBatches: true, feed: { _ in }) { note($0, in: ofA) },
      try queue.observe("c", takesBatches: true, feed: { _ in }) { note($0, in: ofC) },
      try queue.observe(nil, feed: { _ in }) { note($0, in: single) },
    ]
    queue.add("a") { 1 }
    queue.beginBatch(7)
    queue.add("a") { 2 }
    // The thread has time to take it too early.
    Thread.sleep(forTimeInterval: 0.05)
    queue.add("b") { 3 }
    queue.add("a") { 4 }
    queue.endBatch()
    // Two in succession are two.
    queue.beginBatch(9)
    queue.add("b") { 5 }
    queue.endBatch()
    // As does one that changes nothing.
    queue.beginBatch(10)
    queue.endBatch()
    queue.add(nil) { 6 }
    #expect(all.reach(4) && ofA.reach(3) && ofC.reach(1) && single.reach(6))
    #expect(
      all.all == [
        Heard(numbers: [1]), Heard(numbers: [2, 3, 4], batch: 7), Heard(numbers: [5], batch: 9), Heard(numbers: [6]),
      ]
    )
    #expect(ofA.all == [Heard(numbers: [1]), Heard(numbers: [2, 4], batch: 7), Heard(numbers: [6])])
    #expect(ofC.all == [Heard(numbers: [6])])
    #expect(single.all == [1, 2, 3, 4, 5, 6])
    for observation in observations { observation.cancel() }
  }

  /// It would hear a part.
  @Test func whoComesDuringABatchWaitsForItsEnd() async throws {
    let queue = Queue { _ in 0 }
    let (early, late) = (Collected<Heard>(), Collected<Heard>())
    let first = try queue.observe("a", takesBatches: true, feed: { _ in }) { note($0, in: early) }
    queue.beginBatch(2)
    // Nobody observes it yet.
    queue.add("b") {
      Issue.record("made for nobody")
      return 1
    }
    // On a thread of its own: it waits for the task that ends the batch.
    let registered = Collected<ObservationToken>()
    async let registration: Void = onThreadsOfTheirOwn(1) { _ in
      do { registered.add(try queue.observe(nil, takesBatches: true, feed: { _ in }) { note($0, in: late) }) } catch {
        Issue.record(error)
      }
    }
    #expect(try await eventually { queue.isEndAwaited || registered.count > 0 })
    #expect(registered.count == 0)
    queue.add("a") { 2 }
    queue.endBatch()
    await registration
    queue.add("b") { 3 }
    #expect(early.reach(1) && late.reach(1))
    #expect(early.all == [Heard(numbers: [2], batch: 2)])
    #expect(late.all == [Heard(numbers: [3])])
    first.cancel()
    for second in registered.all { second.cancel() }
  }

  @Test func aBatchIsQueuedWholeOrMissedWhole() throws {
    let queue = Queue { $0 }
    let gate = DispatchSemaphore(value: 0)
    let (heard, single) = (Collected<Heard>(), Collected<Int>())
    let observations = [
      try queue.observe(nil, takesBatches: true, feed: { _ in }) {
        note($0, in: heard)
        gate.wait()
      },
      try queue.observe("b", feed: { _ in }) { note($0, in: single) },
    ]
    queue.add("a") { 0 }
    #expect(heard.reach(1))
    // There is room when it begins, though not for all of it, in numbers and in bytes.
    queue.beginBatch(1)
    queue.add("b") { Queue.byteCapacity }
    for number in 0..<Queue.capacity { queue.add("b") { number } }
    queue.endBatch()
    // There is none any more.
    queue.beginBatch(2)
    for number in 0..<3 { queue.add("b") { number } }
    queue.endBatch()
    queue.add("b") { 1 }
    for _ in 0..<4 { gate.signal() }
    #expect(heard.reach(3) && single.reach(Queue.capacity + 2))
    #expect(heard.all[1] == Heard(numbers: [Queue.byteCapacity] + Array(0..<Queue.capacity), batch: 1))
    #expect(heard.all[2] == Heard(numbers: [-4]))
    #expect(single.all.last == -4)
    // There is again.
    queue.beginBatch(3)
    queue.add("b") { 5 }
    queue.endBatch()
    #expect(heard.reach(4))
    #expect(heard.all[3] == Heard(numbers: [5], batch: 3))
    for observation in observations { observation.cancel() }
    gate.signal()
  }

  @Test func observersMayGoAndComeDuringABatch() throws {
    let queue = Queue { _ in 0 }
    let first = try queue.observe(nil, takesBatches: true, feed: { _ in }) { _ in Issue.record("nobody is there") }
    queue.beginBatch(1)
    queue.add("a") { 1 }
    first.cancel()
    queue.add("a") { 2 }
    queue.endBatch()
    let heard = Collected<Heard>()
    let second = try queue.observe(nil, takesBatches: true, feed: { _ in }) { note($0, in: heard) }
    queue.beginBatch(2)
    queue.add("a") { 3 }
    queue.endBatch()
    #expect(heard.reach(1))
    #expect(heard.all == [Heard(numbers: [3], batch: 2)])
    second.cancel()
  }

  @Test func endOfAnObserverOrOfAChangeMayCallTheQueue() throws {
    final class Ending: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
      deinit { body() }
    }
    let queue = ChangeQueue<String, Ending> { _ in 0 }
    let ended = Collected<Int>()
    let gate = DispatchSemaphore(value: 0)
    let ending: @Sendable (Int) -> Ending = { [unowned queue] number in
      Ending {
        queue.add("x") { Ending {} }
        (try? queue.observe(nil, feed: { _ in }, { _ in }))?.cancel()
        ended.add(number)
      }
    }
    var observation: ObservationToken?
    do {
      let held = ending(1)
      observation = try queue.observe(nil, feed: { _ in }) { _ in
        _ = held
        gate.wait()
      }
    }
    queue.add("a") { ending(2) }
    queue.add("a") { ending(3) }
    queue.add("a") { ending(4) }
    _ = observation
    observation = nil
    for _ in 0..<4 { gate.signal() }
    #expect(ended.reach(4))
  }

  @Test func broadcasterGoesWithItsLastViewAndIsMadeAnew() throws {
    try withTemporaryStore { store in
      weak var broadcaster: ChangeBroadcaster?
      do {
        let strong = ChangeBroadcasterRegistry.broadcaster(of: store.default)
        broadcaster = strong
        #expect(strong === ChangeBroadcasterRegistry.broadcaster(of: store.default))
        try strong.observe(key: nil) { _ in }.cancel()
      }
      // A test beside this one that makes a broadcaster may have a reference for a moment.
      #expect(eventually { broadcaster == nil })
      _ = ChangeBroadcasterRegistry.broadcaster(of: store.default)
    }
  }

  /// A broadcaster may hold its store open, and so close it.
  @Test func broadcasterThatGoesWhileAnotherIsMadeClosesItsStoreWithoutALock() async throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await withTemporaryStore { (store) async throws in
      let failed = Collected<any Error>()
      let ended = Collected<Void>()
      await onThreadsOfTheirOwn(2) { thread in
        while thread == 0, ended.count == 0 { _ = ChangeBroadcasterRegistry.broadcaster(of: store.default) }
        if thread == 0 { return }
        for _ in 0..<100 {
          do { _ = ChangeBroadcasterRegistry.broadcaster(of: try LogStore(at: path).default) } catch {
            failed.add(error)
          }
          // Another thread may have the last reference for a moment.
          _ = eventually { (try? LogStore(at: path).close()) != nil }
        }
        ended.add(())
      }
      #expect(failed.count == 0)
    }
  }
}
