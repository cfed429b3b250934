import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A merge whose edit of the manifest fails is undone: everything is where it was.
@Suite struct UndoneMergeTests {
  private static let keys = 600

  private static func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number & 0xff), count: 400) }

  private func fill(_ store: LogStore, _ numbers: Range<Int>) throws {
    for number in numbers { try store.put(Self.value(number), forKey: "key \(number)") }
  }

  /// A store with a merge that was undone. `body` is called when the index leads to the copies.
  private func storeWithUndoneMerge(
    _ machine: Machine,
    _ plan: FaultPlan,
    _ body: @escaping @Sendable (LogStore) -> Void
  ) throws -> LogStore {
    let store = try machine.open { $0.merge.isAutomatic = false }
    try fill(store, 0..<Self.keys)
    try store.probe.endTail()
    let ids = store.statistics.segments.map(\.id)
    plan.fail(.write, on: .prefix("manifest"), sticky: true, .error(PlatformError.noSpace))
    plan.onCall { call in
      if call.operation == .write, call.path.contains("manifest") { body(store) }
    }
    #expect(throws: StoreError.self) { try store.merge(segments: ids) }
    plan.onCall(nil)
    plan.heal()
    return store
  }

  private func machine(_ plan: FaultPlan) -> Machine {
    var machine = Machine()
    machine.calls = plan
    return machine
  }

  @Test func everyValueIsReadFromWhereItWas() throws {
    let plan = FaultPlan()
    let machine = machine(plan)
    let store = try storeWithUndoneMerge(machine, plan) { _ in }
    // The addresses of the copies go to others.
    store.probe.collect()
    try fill(store, Self.keys..<2 * Self.keys)
    for number in 0..<2 * Self.keys { #expect(try store.get("key \(number)") == Self.value(number)) }
    #expect(try store.verify().isClean)
    let contents = try store.contents()
    try store.close()
    #expect(try machine.open().contents() == contents)
  }

  /// Originals and copies are all in segments that it shows.
  @Test func aSnapshotThatWasOpenedMeanwhileShowsEachRecordOnce() throws {
    let plan = FaultPlan()
    let snapshots = Guarded<[Snapshot]>([])
    let store = try storeWithUndoneMerge(machine(plan), plan) { store in
      guard let snapshot = try? store.snapshot() else { return }
      snapshots.withLock { $0.append(snapshot) }
    }
    let opened = snapshots.withLock { $0 }
    #expect(!opened.isEmpty)
    for snapshot in opened {
      #expect(snapshot.reduce(0) { count, _ in count + 1 } == Self.keys)
      #expect(try snapshot.contents() == store.contents())
    }
  }
}
