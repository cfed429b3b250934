import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What a merge does to the files while others sync or fail.
@Suite(.timeLimit(.minutes(60))) struct SyncBesideMergeTests {
  private let machine = Machine()
  private let plan = FaultPlan()

  private func open() throws -> LogStore {
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(machine.disk, plan: plan), clock: machine.clock)
    let options = machine.options { $0.merge.isAutomatic = false }
    return try LogStore(at: machine.path, options: options, host: StoreHost(platform: platform, background: .inline))
  }

  @Test func aSyncUnderWayPassesOverASegmentThatAMergeRemoves() throws {
    let store = try open()
    for number in 0..<20 { try store.put([UInt8](repeating: 1, count: 1_000), forKey: "key \(number % 5)") }
    try store.sync()
    // So that the next leader looks at the names of the files.
    machine.clock.advance(milliseconds: 100)
    let tail = try #require(store.probe.tail?.path)
    let isMerged = Gate()
    isMerged.close()
    let isSyncing = SharedFlag()
    let failure = Guarded<StoreError?>(nil)
    let syncer = Guarded<WorkerThread?>(nil)
    plan.onCall { call in
      if call.operation == .write, call.path.contains("manifest"), syncer.withLock({ $0 == nil }),
        (try? machine.files(".segment").count) == 3
      {
        // The tail that was ended, the new one, and the merge's output. Amid the merge: its inputs are durable, and still on the list of what is to be synced.
        let thread = try? WorkerThread(name: "syncs") {
          do throws(StoreError) {
            try store.put("x", forKey: "x")
            try store.sync()
          } catch { failure.withLock { $0 = error } }
        }
        syncer.withLock { $0 = thread }
        while !isSyncing.isRaised { Platform.yieldThread() }
      } else if call.operation == .sync, call.path == tail, WorkerThread.isCurrentThread {
        isSyncing.raise()
        isMerged.pass()
      }
    }
    try store.merge()
    isMerged.open()
    try #require(syncer.withLock { $0.take() }).join()
    plan.onCall(nil)
    #expect(failure.withLock { $0 } == nil)
    try store.put("y", forKey: "y", durability: .synced)
    #expect(store.durableSequence == store.lastSequence)
    #expect(try machine.disk.status(tail) == nil)
  }

  /// Between the copy of a record and the change of the index.
  @Test func whatIsOverwrittenAmidAMergeStaysSo() throws {
    let store = try open()
    for number in 0..<20 { try store.put([UInt8](repeating: 1, count: 1_000), forKey: "key \(number)") }
    try store.probe.endTail()
    let known = Set(try machine.files(".segment"))
    let written = SharedCounter()
    plan.onCall { call in
      guard call.operation == .sync, call.path.hasSuffix(".segment"), !known.contains(call.path) else { return }
      _ = try? store.put("new \(written.add())", forKey: "key 3")
    }
    try store.merge(segments: store.statistics.segments.map(\.id))
    plan.onCall(nil)
    #expect(store.statistics.merged.bytesWritten > 0)
    #expect(written.value > 0)
    #expect(try store.get("key 3") == bytes("new \(written.value)"))
    #expect(try store.get("key 4") == [UInt8](repeating: 1, count: 1_000))
    #expect(try store.verify().isClean)
  }

  @Test func aSyncOfAFileThatSomebodyElseRemovedFails() throws {
    let store = try open()
    try store.put("v", forKey: "k")
    try machine.disk.remove(#require(try machine.files(".segment").last))
    machine.clock.advance(milliseconds: 100)
    let error = #expect(throws: StoreError.self) { try store.sync() }
    #expect(error?.isSyncFailure == true)
  }

  /// The manifest has two copies, and an edit that cannot write one of them may have written the other.
  @Test(
    arguments: ["manifest.a", "manifest.b"],
    [FaultEffect.error(PlatformError.noSpace), .partial(bytes: 1 << 20, code: PlatformError.noSpace)]
  )
  func aMergeWhoseEditIsHalfDoneLosesNothing(_ copy: String, _ effect: FaultEffect) throws {
    var machine = machine
    let store = try open()
    for number in 0..<600 { try store.put([UInt8](repeating: 1, count: 400), forKey: "key \(number)") }
    let before = try store.contents()
    try store.probe.endTail()
    let ids = store.statistics.segments.map(\.id)
    plan.fail(.write, on: .suffix(copy), sticky: true, effect)
    #expect(throws: StoreError.self) { try store.merge(segments: ids) }
    #expect(try store.contents() == before)
    // Whatever the manifest says now, its segments are there.
    machine.disk = try machine.disk.processKilled()
    let again = try machine.open()
    #expect(try again.contents() == before)
    #expect(try again.verify().isClean)
  }

  @Test(arguments: ["manifest.a", "manifest.b"])
  func anEditWithoutRoomForOneCopyTouchesNone(_ copy: String) throws {
    let store = try open()
    try store.put("v", forKey: "k")
    func copies() throws -> [[UInt8]] {
      try ["manifest.a", "manifest.b"].map { try machine.disk.open("\(machine.path)/\($0)", .read).allBytes() }
    }
    func keyspace(_ number: Int) throws(StoreError) {
      _ = try store.keyspace("\(number) " + String(repeating: "n", count: 200))
    }
    plan.fail(.reserve, on: .suffix(copy), sticky: true, .error(PlatformError.noSpace))
    var before = try copies()
    var number = 0
    // Until the copies must grow.
    while (try? keyspace(number)) != nil, number < 200 {
      before = try copies()
      number += 1
    }
    #expect(number < 200)
    // They may have become longer.
    #expect(try zip(copies(), before).allSatisfy { $0.starts(with: $1) })
    try store.put("still", forKey: "k", durability: .synced)
    plan.heal()
    try keyspace(number)
    #expect(try machine.open { $0.readOnly = true }.get("k") == bytes("still"))
  }
}
