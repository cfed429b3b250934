import EskerPlatform
import EskerTestSupport
import Foundation
import Testing

@testable import EskerLog

/// A write is in the index shortly before its number is published. Others see it there by then, so what they make durable includes it,
/// and what it replaces is not thrown away before.
@Suite(.timeLimit(.minutes(60))) struct UnpublishedWriteTests {
  /// Does something while the index has a batch that is not published yet, once, under the writer's lock.
  private final class Between: WriteWatcher {
    private let body: Guarded<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Guarded(body) }

    func willWrite(_ key: RawSpan) {}
    func didWrite(_ key: RawSpan, _ sequence: UInt64?) { body.withLock { $0.take() }?() }
    func willEmpty() {}
    func didEmpty() {}
    func afterEmptying() {}
    func didEnd() {}
  }

  /// A thread that is joined later.
  private final class Other: Sendable {
    private let thread = Guarded<WorkerThread?>(nil)
    private let failure = Guarded<(any Error)?>(nil)
    private let hasEnded = SharedFlag()

    func start(_ body: @escaping @Sendable () throws -> Void) {
      do {
        let started = try WorkerThread(name: "meanwhile") {
          do { try body() } catch { self.failure.withLock { $0 = error } }
          self.hasEnded.raise()
        }
        thread.withLock { $0 = started }
      } catch { failure.withLock { $0 = error } }
    }

    /// Gives it the time to do what it must not: it has to wait for the writer instead.
    func giveTime() {
      for _ in 0..<300 where !hasEnded.isRaised { usleep(1000) }
    }

    func join() throws {
      thread.withLock { $0.take() }?.join()
      if let error = failure.withLock({ $0 }) { throw error }
    }
  }

  private let machine = Machine()
  private let plan = FaultPlan()

  private func open() throws -> LogStore {
    var machine = machine
    machine.calls = plan
    return try machine.open { $0.merge.isAutomatic = false }
  }

  /// Writes `new` for `a` by a batch, and does something in between.
  private func replace(in store: LogStore, _ between: @escaping @Sendable () -> Void) throws {
    let watcher = Between(between)
    store.default.addWatcher(watcher)
    try store.write { batch in try batch.put("new", forKey: "a") }
    store.default.removeWatcher(watcher)
  }

  /// The value of a key after a loss of power of which nothing is spared that was not synced.
  private func valueAfterPowerLoss(_ key: String = "a") throws -> [UInt8]? {
    var generator = SeededGenerator(seed: 1)
    var copy = machine
    copy.disk = try machine.disk.crashImage(.drop, using: &generator)
    let store = try copy.open()
    let value = try store.get(key)
    try store.close()
    return value
  }

  @Test func aSyncCoversWhatWasRead() throws {
    let store = try open()
    try store.put("old", forKey: "a", durability: .synced)
    let other = Other()
    try replace(in: store) {
      other.start {
        #expect(try store.get("a") == bytes("new"))
        try store.sync()
      }
      other.giveTime()
    }
    try other.join()
    #expect(try valueAfterPowerLoss() == bytes("new"))
  }

  @Test func whoWaitsForAVersionThatWasReadWaitsForThat() throws {
    let store = try open()
    try store.put("old", forKey: "a", durability: .synced)
    let other = Other()
    try replace(in: store) {
      other.start {
        let version = try #require(try store.metadata(forKey: "a")?.version)
        #expect(version > store.lastSequence)
        try store.waitDurable(version)
      }
      other.giveTime()
    }
    try other.join()
    #expect(try valueAfterPowerLoss() == bytes("new"))
  }

  @Test func aSyncByATaskCoversWhatWasRead() async throws {
    let store = try open()
    try store.put("old", forKey: "a", durability: .synced)
    let begun = SharedFlag()
    let hasEnded = SharedFlag()
    let task = Task {
      while !begun.isRaised { try await Task.sleep(for: .milliseconds(1)) }
      #expect(try store.get("a") == bytes("new"))
      try await store.async.sync()
      hasEnded.raise()
    }
    try replace(in: store) {
      begun.raise()
      for _ in 0..<300 where !hasEnded.isRaised { usleep(1000) }
    }
    try await task.value
    #expect(try valueAfterPowerLoss() == bytes("new"))
  }

  /// A durable record is dead for a merge once the index has the next one; so that one has to be durable before the merge removes it.
  @Test func aMergeKeepsWhatIsBeingReplaced() throws {
    let store = try open()
    // More than a merge looks at together: the output is begun before it comes to the last key.
    for number in 0..<40 { try store.put("value", forKey: "key \(number)") }
    for _ in 0..<2 { try store.put("old", forKey: "a") }
    try store.probe.endTail()
    try store.put("value", forKey: "tail", durability: .synced)
    let known = Set(try machine.files(".segment"))
    let writer = Other()
    let isBetween = SharedFlag()
    let isGoingOn = SharedFlag()
    plan.onCall { call in
      guard call.path.hasSuffix(".segment"), !known.contains(call.path), !isGoingOn.isRaised else { return }
      isGoingOn.raise()
      writer.start {
        try replace(in: store) {
          isBetween.raise()
          usleep(300_000)
        }
      }
      _ = eventually { isBetween.isRaised }
    }
    let ids = store.statistics.segments.filter(\.isSealed).map(\.id)
    #expect(try store.merge(segments: ids).segmentsRemoved == 1)
    plan.onCall(nil)
    try writer.join()
    #expect(isBetween.isRaised)
    #expect(try valueAfterPowerLoss() != nil)
    #expect(try valueAfterPowerLoss("key 0") != nil)
  }
}
