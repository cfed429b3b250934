import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// While files are made, grown and listed, whoever finds room goes on.
///
/// What a call to the file system meets is looked at in that call. Somebody who waited for its end would wait for ever.
@Suite(.timeLimit(.minutes(60))) struct WritesBesideDiskTests {
  private let machine = Machine()
  private let plan = FaultPlan()

  private func open(_ change: (inout Options) -> Void = { _ in }) throws -> LogStore {
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(machine.disk, plan: plan), clock: machine.clock)
    let options = machine.options { options in
      options.merge.isAutomatic = false
      change(&options)
    }
    return try LogStore(at: machine.path, options: options, host: StoreHost(platform: platform, background: .inline))
  }

  /// Does something in the first call that a condition picks, on another thread, and waits for its end.
  private func during(
    _ picks: @escaping @Sendable (FaultCall) -> Bool,
    _ body: @escaping @Sendable () throws -> Void
  ) -> Outcome {
    let outcome = Outcome()
    let isTaken = SharedFlag()
    plan.onCall { call in
      guard picks(call), !isTaken.isRaised else { return }
      isTaken.raise()
      do {
        let errors = try onThreads(1) { _ in try body() }
        outcome.set(errors)
      } catch {
        outcome.set([error])
      }
    }
    return outcome
  }

  /// What came of it; nil as long as nothing was done.
  private final class Outcome: Sendable {
    private let errors = Guarded<[any Error]?>(nil)

    var value: [any Error]? { errors.withLock { $0 } }

    func set(_ value: [any Error]) { errors.withLock { $0 = value } }
  }

  /// A snapshot that another thread takes.
  private final class Taken: Sendable {
    private let snapshot = Guarded<Snapshot?>(nil)

    var value: Snapshot? { snapshot.withLock { $0 } }

    func set(_ value: Snapshot) { snapshot.withLock { $0 = value } }
  }

  private func expectDone(_ outcome: Outcome) {
    plan.onCall(nil)
    #expect(outcome.value?.isEmpty == true)
  }

  @Test func aWriteWaitsForNoSegmentThatAnotherWriteNeeds() throws {
    let store = try open()
    try store.put("first", forKey: "a")
    let outcome = during({ $0.operation == .create }) {
      try store.put("second", forKey: "b")
      try store.remove("a")
      try store.write { (batch) throws(StoreError) in try batch.put("third", forKey: "c") }
      let count = try store.snapshot().count
      if count != 2 || store.statistics.keys != 2 { throw StoreError.cancelled }
    }
    // Has no room in the segment that there is.
    try store.put([UInt8](repeating: 7, count: 100_000), forKey: "large")
    expectDone(outcome)
    let again = try reopened(store)
    #expect(try again.get("a") == nil && again.get("b") == Array("second".utf8) && again.get("c") != nil)
    #expect(try again.get("large")?.count == 100_000)
  }

  @Test func aWriteWaitsForNoEditThatListsTheNextSegment() throws {
    let store = try open()
    try store.put("first", forKey: "a")
    let outcome = during({ $0.operation == .write && $0.path.contains("manifest") }) {
      try store.put("second", forKey: "b")
    }
    try store.put([UInt8](repeating: 7, count: 100_000), forKey: "large")
    expectDone(outcome)
    let again = try reopened(store)
    #expect(try again.get("b") == Array("second".utf8) && again.get("large")?.count == 100_000)
  }

  /// What is written while the next segment is made stays in the last one, and the numbers go on behind it.
  @Test func numbersAscendAcrossASegmentThatWasMadeMeanwhile() throws {
    let store = try open()
    for number in 0..<10 { try store.put("value", forKey: "before \(number)") }
    let outcome = during({ $0.operation == .create }) {
      for number in 0..<10 { try store.put("value", forKey: "meanwhile \(number)") }
    }
    try store.put([UInt8](repeating: 7, count: 100_000), forKey: "large")
    expectDone(outcome)
    for number in 0..<10 { try store.put("value", forKey: "after \(number)") }
    let runs = store.probe.segments.filter { $0.kind == .log && $0.firstSequence != 0 }.map(\.firstSequence)
    #expect(runs == [1, 21])
    let again = try reopened(store)
    #expect(try again.count() == 31 && again.lastSequence.rawValue == 31)
    #expect(try again.verify().isClean)
  }

  /// A close waits for whoever makes room, and then nobody does any more.
  @Test(arguments: [FaultOperation.create, .sync, .map]) func aCloseWaitsForASegmentThatIsMade(
    _ operation: FaultOperation
  ) throws {
    let store = try open()
    let probe = store.probe
    try store.put("first", forKey: "a")
    let closer = Guarded<WorkerThread?>(nil)
    let isTaken = SharedFlag()
    plan.onCall { call in
      guard call.operation == operation, call.path.hasSuffix(".segment"), !isTaken.isRaised else { return }
      isTaken.raise()
      let thread = try? WorkerThread(name: "closes") { try? store.close() }
      closer.withLock { $0 = thread }
      while !probe.isClosed { Platform.yieldThread() }
      // Until it waits, most likely.
      for _ in 0..<2_000 { Platform.yieldThread() }
    }
    let isWritten = (try? store.put([UInt8](repeating: 7, count: 100_000), forKey: "large")) != nil
    closer.withLock { $0 }?.join()
    plan.onCall(nil)
    #expect(isTaken.isRaised)
    let again = try machine.open()
    #expect(try (again.get("large") != nil) == isWritten && again.get("a") != nil)
    #expect(try again.verify().isClean)
    #expect(try machine.files(".segment") == again.probe.segments.map(\.path).sorted())
  }

  /// A record that needs much room gets it though others take what was made for it.
  @Test func aLargeRecordIsNotStarvedBySmallOnes() throws {
    let store = try open { $0.segmentSize = 64 << 10 }
    let isWritten = SharedFlag()
    let errors = try onThreads(3) { thread in
      if thread == 0 {
        defer { isWritten.raise() }
        for number in 0..<40 { try store.put([UInt8](repeating: 1, count: 60_000), forKey: "large \(number)") }
      } else {
        var number = 0
        while !isWritten.isRaised, number < 100_000 {
          try store.put([UInt8](repeating: 2, count: 500), forKey: "small \(thread) \(number % 100)")
          number += 1
        }
      }
    }
    #expect(errors.isEmpty)
    for number in 0..<40 { #expect(try store.get("large \(number)")?.count == 60_000) }
    #expect(try store.verify().isClean)
  }

  /// A snapshot that is taken while a merge lists what it wrote waits for nothing, and shows what there is.
  @Test(arguments: [1, 2]) func aSnapshotAmidAMergeIsExact(copy: Int) throws {
    let store = try open()
    for number in 0..<200 { try store.put("value \(number)", forKey: "key \(number)") }
    for number in 0..<100 { try store.put("newer", forKey: "key \(number)") }
    for number in 150..<200 { try store.remove("key \(number)") }
    let expected = try contents(of: store.snapshot())
    let taken = Taken()
    try store.probe.endTail()
    let writes = SharedCounter()
    // The index leads to what the merge wrote, and no manifest does, or one copy of it.
    let outcome = during({ $0.operation == .write && $0.path.contains("manifest") && writes.add() == copy }) {
      let snapshot = try store.snapshot()
      if snapshot.count != 150 { throw StoreError.cancelled }
      taken.set(snapshot)
    }
    try store.merge()
    expectDone(outcome)
    let snapshot = try #require(taken.value)
    #expect(try contents(of: snapshot) == expected)
    // Whatever is written and merged since.
    for number in 0..<200 { try store.put("later", forKey: "key \(number)") }
    try store.merge()
    #expect(try contents(of: snapshot) == expected)
  }

  /// As above, when the merge fails and the index is led back.
  @Test func aSnapshotAmidAMergeThatFailsIsExact() throws {
    let store = try open()
    for number in 0..<200 { try store.put("value \(number)", forKey: "key \(number)") }
    for number in 0..<100 { try store.put("newer", forKey: "key \(number)") }
    let expected = try contents(of: store.snapshot())
    let taken = Taken()
    try store.probe.endTail()
    // A full volume stops the edit before anything is written.
    let outcome = during({ $0.operation == .write && $0.path.contains("manifest") }) {
      taken.set(try store.snapshot())
    }
    plan.fail(.write, on: .prefix("manifest"), sticky: true, .error(PlatformError.noSpace))
    #expect(throws: StoreError.self) { try store.merge() }
    plan.heal()
    expectDone(outcome)
    let snapshot = try #require(taken.value)
    #expect(try contents(of: snapshot) == expected)
    #expect(try contents(of: store.snapshot()) == expected)
    #expect(try store.probe.verifySegments(of: snapshot).isClean)
    try store.merge()
    #expect(try contents(of: snapshot) == expected)
  }

  private func contents(of snapshot: Snapshot) throws -> [[UInt8]: [UInt8]] {
    var found: [[UInt8]: [UInt8]] = [:]
    for entry in snapshot {
      let key = try entry.key()
      #expect(found[key] == nil, "shown twice")
      found[key] = try entry.value()
    }
    return found
  }

  private func reopened(_ store: LogStore) throws -> LogStore {
    try store.close()
    return try machine.open()
  }
}
