import EskerPlatform
import Foundation
import Synchronization
import Testing

/// Pins keep what is retired after them.
@Suite struct EpochDomainTests {
  final class Counter: Sendable { let value = Atomic<Int>(0) }

  @Test func retiredThingIsFreedAtOnceWithoutPins() {
    let epochs = EpochDomain()
    let freed = Counter()
    epochs.retire { freed.value.wrappingAdd(1, ordering: .relaxed) }
    #expect(epochs.pendingCount == 1)
    // Another test's pin may be under way, but none lasts.
    epochs.synchronize()
    epochs.collect()
    #expect(freed.value.load(ordering: .relaxed) == 1)
    #expect(epochs.pendingCount == 0)
  }

  /// In a process of its own: what this pin has to keep, one of another test could.
  @Test func pinKeepsWhatIsRetiredAfterItAndNestedPinsCount() async {
    await #expect(processExitsWith: .success) {
      let epochs = EpochDomain()
      let freed = Counter()
      let outer = epochs.enter()
      let inner = epochs.enter()
      #expect(epochs.isPinned)
      epochs.retire { freed.value.wrappingAdd(1, ordering: .relaxed) }
      epochs.exit(inner)
      epochs.collect()
      #expect(freed.value.load(ordering: .relaxed) == 0)
      epochs.exit(outer)
      #expect(!epochs.isPinned)
      epochs.collect()
      #expect(freed.value.load(ordering: .relaxed) == 1)
    }
  }

  @Test func synchronizeWaitsForAPinOfAnotherThread() {
    let epochs = EpochDomain()
    let isPinned = DispatchSemaphore(value: 0)
    let hasLeft = Counter()
    let seen = Counter()
    onThreads([
      {
        let pin = epochs.enter()
        isPinned.signal()
        usleep(20_000)
        hasLeft.value.store(1, ordering: .releasing)
        epochs.exit(pin)
      },
      {
        isPinned.wait()
        epochs.synchronize()
        seen.value.store(hasLeft.value.load(ordering: .acquiring), ordering: .releasing)
      },
    ])
    #expect(seen.value.load(ordering: .acquiring) == 1)
  }

  @Test func collectingWithinATimeLeavesWhatIsHeldLonger() {
    let epochs = EpochDomain()
    let freed = Counter()
    let isPinned = DispatchSemaphore(value: 0)
    let hasTried = DispatchSemaphore(value: 0)
    onThreads([
      {
        let pin = epochs.enter()
        isPinned.signal()
        hasTried.wait()
        epochs.exit(pin)
      },
      {
        isPinned.wait()
        epochs.retire { freed.value.wrappingAdd(1, ordering: .relaxed) }
        epochs.collect(within: 1_000_000)
        #expect(epochs.pendingCount == 1)
        hasTried.signal()
        epochs.collect(within: .max)
        #expect(freed.value.load(ordering: .relaxed) == 1)
      },
    ])
    // A pinned thread does not wait for itself.
    let pin = epochs.enter()
    epochs.retire { freed.value.wrappingAdd(1, ordering: .relaxed) }
    epochs.collect(within: .max)
    #expect(epochs.pendingCount == 1)
    epochs.exit(pin)
  }

  @Test func threadThatEndsLeavesNoPinBehind() {
    let epochs = EpochDomain()
    for _ in 0..<200 {
      onThreads([{ epochs.exit(epochs.enter()) }])
    }
    epochs.synchronize()
  }

  /// A cell is unlinked, retired and overwritten when freed; a pinned reader never sees it overwritten.
  @Test func pinnedReaderNeverSeesFreedMemory() {
    let epochs = EpochDomain()
    let link = Counter()
    let cells = (0..<2_000).map { _ in Counter() }
    for cell in cells { cell.value.store(1, ordering: .relaxed) }
    let bad = Counter()
    let stopped = Counter()
    let reader: @Sendable () -> Void = {
      while stopped.value.load(ordering: .acquiring) == 0 {
        let pin = epochs.enter()
        let cell = cells[link.value.load(ordering: .acquiring)]
        for _ in 0..<50 where cell.value.load(ordering: .relaxed) != 1 { bad.value.wrappingAdd(1, ordering: .relaxed) }
        epochs.exit(pin)
      }
    }
    onThreads([
      reader, reader,
      {
        for next in 1..<cells.count {
          let old = cells[next - 1]
          link.value.store(next, ordering: .releasing)
          epochs.retire { old.value.store(2, ordering: .relaxed) }
          epochs.collect()
        }
        stopped.value.store(1, ordering: .releasing)
      },
    ])
    #expect(bad.value.load(ordering: .relaxed) == 0)
    epochs.synchronize()
    epochs.collect()
    #expect(epochs.pendingCount == 0)
  }
}
