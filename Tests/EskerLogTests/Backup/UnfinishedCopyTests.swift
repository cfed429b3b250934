import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Directories that bear the mark of a copy, or what looks like one.
@Suite struct UnfinishedCopyTests {
  private let bench: CopyBench
  private var disk: SimulatedDisk { bench.disk }

  init() throws {
    bench = try CopyBench()
  }

  /// The disk as a process leaves it that is killed while it makes a copy, half way.
  private func interrupted(_ copying: Copying) throws -> SimulatedDisk {
    let killed = Guarded<SimulatedDisk?>(nil)
    let disk = disk
    // What is to be backed up is verified first.
    let half = copying == .repair ? 0.5 : 0.75
    try bench.make(copying, on: disk) { share in
      if share > half + 0.05 { killed.withLock { if $0 == nil { $0 = try? disk.processKilled() } } }
      return true
    }
    return try #require(killed.withLock { $0 })
  }

  private func write(_ contents: [UInt8], to path: String, on disk: SimulatedDisk) throws {
    let file = try disk.open(path, .create)
    defer { file.close() }
    try file.writeAll(contents, at: 0)
  }

  private func names(on disk: SimulatedDisk) throws -> [String] { try disk.list("/copy").sorted() }

  @Test(arguments: Copying.allCases)
  func aStrangersFileIsNotRemoved(copying: Copying) throws {
    for (name, contents) in [
      ("notes.txt", bytes("mine")), ("00000000000000aa.segment", [UInt8](repeating: 7, count: 4096)),
      ("00000000000000aa.checkpoint", bytes("mine, and longer than any identity is")), ("statistics", bytes("mine")),
    ] {
      let disk = try interrupted(copying)
      try write(contents, to: "/copy/\(name)", on: disk)
      let before = try names(on: disk)
      #expect(before.count > 2)
      #expect(throws: StoreError.directoryNotEmpty(path: "/copy")) { try bench.make(copying, on: disk) }
      #expect(try names(on: disk) == before, "\(name)")
      #expect(try bench.outcome(copying, on: disk, name) == .refused)
      // And may be taken away.
      try disk.remove("/copy/\(name)")
      try bench.makeAgain(copying, on: disk, name)
      for name in try names(on: self.disk) { try self.disk.remove("/copy/\(name)") }
    }
  }

  @Test func aManifestOfAnotherStoreIsNotRemoved() throws {
    let disk = try interrupted(.backup)
    let other = try LogStore(
      at: "/other",
      options: Options(),
      host: StoreHost(platform: disk.platform(seed: 99), background: .inline)
    )
    try other.close()
    try disk.link("/other/manifest.a", to: "/copy/manifest.a")
    #expect(throws: StoreError.directoryNotEmpty(path: "/copy")) { try bench.make(.backup, on: disk) }
    #expect(try disk.status("/copy/manifest.a")?.linkCount == 2)
  }

  @Test(arguments: Copying.allCases)
  func aMarkThatWasNeverWrittenIsAlone(copying: Copying) throws {
    for contents in [[], [0], [UInt8](repeating: 0, count: 40), bytes("ESKRCPY1"), bytes("something else")] {
      let disk = try disk.processKilled()
      try disk.createDirectory("/copy")
      try write(contents, to: "/copy/\(copying.mark)", on: disk)
      #expect(try bench.outcome(copying, on: disk, "\(contents)") == .refused)
      let again = try disk.processKilled()
      try bench.makeAgain(copying, on: again, "\(contents)")
      // Beside anything else it proves nothing.
      try write([], to: "/copy/manifest.a", on: disk)
      #expect(throws: StoreError.directoryNotEmpty(path: "/copy")) { try bench.make(copying, on: disk) }
      #expect(try names(on: disk) == [copying.mark, "manifest.a"].sorted())
    }
  }

  @Test func aCopyOfAnotherKindIsRefusedByName() throws {
    let disk = try interrupted(.repair)
    let before = try names(on: disk)
    let refusal = StoreError.unfinishedCopy(path: "/copy", mark: "repair.unfinished", holder: 0)
    for copying in [Copying.backup, .copyingBackup, .restore] {
      #expect(throws: refusal) { try bench.make(copying, on: disk) }
    }
    #expect(throws: refusal) { try bench.open("/store", on: disk, readOnly: true).planBackup(to: "/copy") }
    #expect(try names(on: disk) == before)
    #expect("\(refusal)".contains("repeat the same command, or remove the directory"))
  }

  @Test func whatWouldBeCopiedIsToldWhereABackupWasInterrupted() throws {
    let disk = try interrupted(.copyingBackup)
    let before = try names(on: disk)
    let plan = try bench.open("/store", on: disk, readOnly: true).planBackup(to: "/copy", copying: true)
    #expect(plan.copiedBytes > 100_000)
    #expect(try names(on: disk) == before)
  }

  @Test(arguments: Copying.allCases)
  func aCopyThatIsBeingMadeNamesItsProcess(copying: Copying) throws {
    let refusal = StoreError.unfinishedCopy(path: "/copy", mark: copying.mark, holder: 77)
    let looks = SharedCounter()
    try bench.make(copying, on: disk, processID: 77) { share in
      guard share > 0.6 else { return true }
      looks.add()
      for isReader in [false, true] {
        #expect(throws: refusal) { try bench.open("/copy", on: disk, readOnly: isReader) }
      }
      // The repair holds the source's lock, which the other would meet first.
      if copying != .repair { #expect(throws: refusal) { try bench.make(copying, on: disk) } }
      return true
    }
    #expect(looks.value > 0)
    #expect("\(refusal)".contains("process 77"))
    #expect(try bench.outcome(copying, on: disk, "the end") == .whole)
  }

  @Test(arguments: Copying.allCases)
  func whoStopsACopyFindsNothingOfIt(copying: Copying) throws {
    let disk = disk
    for isThere in [false, true] {
      if isThere { try disk.createDirectory("/copy") }
      // As soon as something has been made.
      #expect(throws: StoreError.cancelled) {
        try bench.make(copying, on: disk) { _ in (try? disk.status("/copy/\(copying.mark)")) == .some(nil) }
      }
      // A directory that was there before stays.
      #expect(try (disk.status("/copy") != nil) == isThere)
      if isThere { #expect(try names(on: disk) == []) }
    }
    // And of one that goes on where another was interrupted, too.
    let killed = try interrupted(copying)
    let left = try Set(names(on: killed))
    #expect(throws: StoreError.cancelled) {
      try bench.make(copying, on: killed) { _ in (try? left.isSubset(of: killed.list("/copy"))) == true }
    }
    #expect(try names(on: killed) == [])
  }

  @Test func aStoreThatIsBegunThereAtTheSameTimeIsNotTouched() throws {
    let plan = FaultPlan()
    let other = disk
    let isDone = SharedFlag()
    plan.onCall { [bench] call in
      // The directory has been looked at and is empty.
      guard call.operation == .create, call.path == "/copy/backup.unfinished", !isDone.isRaised else { return }
      isDone.raise()
      let store = try? bench.open("/copy", on: other)
      _ = try? store?.put("theirs", forKey: "key", durability: .synced)
      try? store?.close()
    }
    try disk.createDirectory("/copy")
    #expect(throws: StoreError.directoryNotEmpty(path: "/copy")) {
      try bench.make(.backup, on: FaultyFileSystem(disk, plan: plan))
    }
    #expect(isDone.isRaised)
    #expect(try bench.open("/copy", on: disk).get("key") == bytes("theirs"))
  }

  @Test func aCopyThatIsBegunThereAtTheSameTimeIsNotTouched() throws {
    let plan = FaultPlan()
    let disk = disk
    let isDone = SharedFlag()
    plan.onCall { call in
      // The store's opening has looked at the directory, which is empty.
      guard call.path == "/copy/LOCK", !isDone.isRaised else { return }
      isDone.raise()
      let mark = try? disk.open("/copy/backup.unfinished", .create)
      mark?.close()
    }
    try disk.createDirectory("/copy")
    #expect(throws: StoreError.unfinishedCopy(path: "/copy", mark: "backup.unfinished", holder: 0)) {
      try bench.open("/copy", on: FaultyFileSystem(disk, plan: plan))
    }
    #expect(try disk.status("/copy/manifest.a") == nil)
  }

  @Test func anEmptyDirectoryHasNothingToShare() throws {
    try disk.createDirectory("/earlier")
    let store = try bench.open("/store", on: disk, readOnly: true)
    let report = try store.backup(to: "/copy", reusing: "/earlier", copying: true)
    #expect(report.sharedSegments == 0)
    #expect(try bench.outcome(.backup, on: disk, "the end") == .whole)
    #expect(throws: StoreError.failed(operation: "open", path: "/nothing", errno: PlatformError.notFound)) {
      try store.backup(to: "/more", reusing: "/nothing")
    }
    #expect(throws: StoreError.failed(operation: "open", path: "/nothing", errno: PlatformError.notFound)) {
      try store.planBackup(to: "/more", reusing: "/nothing")
    }
    #expect(try disk.status("/more") == nil)
    try disk.createDirectory("/photos")
    try write([1], to: "/photos/one.jpg", on: disk)
    #expect(throws: StoreError.notAStore(path: "/photos")) { try store.backup(to: "/more", reusing: "/photos") }
  }
}
