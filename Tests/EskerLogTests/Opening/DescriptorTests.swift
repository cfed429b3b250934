import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// Stores of more segments than the process may have files open.
@Suite struct DescriptorTests {
  /// How many files may be opened.
  static let room = 48

  /// Runs the body of an exit test with few descriptors; what it throws shows in the test.
  static func limited(_ body: () throws -> Void) {
    do {
      try FileLimit.leave(room)
      try body()
    } catch {
      Issue.record(error)
    }
  }

  /// A store of small segments on the machine's own file system, and what it must hold.
  struct Crowd {
    let directory: TemporaryDirectory
    var expected: [[UInt8]: [UInt8]] = [:]

    /// Bytes of a value, but for the key at its end.
    var length = 3900

    init() throws { directory = try TemporaryDirectory() }

    var path: String { directory.appending("store") }

    func open(_ change: (inout Options) -> Void = { _ in }) throws(StoreError) -> LogStore {
      var options = Options()
      options.segmentSize = 64 << 10
      change(&options)
      return try LogStore(at: path, options: options)
    }

    /// Writes so that about 16 keys of the usual length fill a segment.
    mutating func put(_ keys: some Sequence<Int>, round: UInt8, to store: LogStore) throws {
      for number in keys {
        let key = bytes("key \(number)")
        let value = [UInt8](repeating: round, count: length) + key
        try store.put(value, forKey: key)
        expected[key] = value
      }
    }

    func expectContents(_ store: LogStore) throws {
      #expect(try store.contents() == expected)
      let report = try store.verify()
      #expect(report.isClean, "\(report.damage)")
    }
  }

  @Test func aStoreOfMoreSegmentsThanFilesDoesWhatOthersDo() async {
    await #expect(processExitsWith: .success) {
      Self.limited {
        var crowd = try Crowd()
        let store = try crowd.open { $0.merge.isAutomatic = false }
        try crowd.put(0..<3600, round: 1, to: store)
        #expect(store.statistics.segments.count > 200)
        #expect(store.statistics.segments.allSatisfy { $0.fileBytes > 0 })
        try crowd.expectContents(store)
        let reader = try crowd.open { $0.readOnly = true }
        try crowd.expectContents(reader)
        // Every other key, so that each segment has something to merge.
        try crowd.put(stride(from: 0, to: 3600, by: 2), round: 2, to: store)
        try store.backup(to: crowd.directory.appending("backup"))
        try reader.refresh()
        try crowd.expectContents(reader)
        try store.merge()
        try crowd.expectContents(store)
        try reader.refresh()
        try crowd.expectContents(reader)
        try reader.close()
        try store.close()
        let again = try crowd.open()
        try crowd.expectContents(again)
        try again.close()
        let backup = try LogStore(at: crowd.directory.appending("backup"))
        try crowd.expectContents(backup)
        try backup.close()
        let inspection = try StoreInspection(at: crowd.path)
        #expect(inspection.segments.count > 100)
        let salvaged = crowd.directory.appending("salvaged")
        #expect(try LogStore.salvage(from: crowd.path, to: salvaged).losses.isEmpty)
        try crowd.expectContents(try LogStore(at: salvaged))
      }
    }
  }

  @Test func mergingInTheBackgroundNeedsNoMore() async {
    await #expect(processExitsWith: .success) {
      Self.limited {
        let failures = Guarded<[StoreEvent]>([])
        var crowd = try Crowd()
        let store = try crowd.open { options in
          options.onEvent = { event in
            if case .backgroundFailure = event { failures.withLock { $0.append(event) } }
          }
        }
        for round in 1...4 as ClosedRange<UInt8> { try crowd.put(0..<3600, round: round, to: store) }
        try crowd.expectContents(store)
        try store.close()
        try crowd.expectContents(try crowd.open())
        #expect(failures.withLock { $0 }.isEmpty, "\(failures.withLock { $0 })")
      }
    }
  }

  @Test func aFileThatCannotBeOpenedAgainIsAnErrorAndNoDamage() throws {
    let bench = FaultBench()
    bench.plan.giveUpResting()
    let store = try bench.open()
    defer { store.probe.kill() }
    // Of so many records the footer is long, and stands where the segment has no address space any more.
    for number in 0..<6000 { try store.put("value", forKey: "\(number)") }
    try store.sync()
    let expected = try store.contents()
    let sealed = try #require(store.statistics.segments.first { $0.isSealed }).path
    #expect(try store.verify().isClean)
    let failure = StoreError.failed(operation: "open", path: sealed, errno: PlatformError.tooManyFiles)
    // The header is mapped; the footer is read next.
    bench.plan.fail(.open, on: .suffix(sealed), nth: 2, .error(PlatformError.tooManyFiles))
    #expect(throws: failure) { try store.verify() }
    #expect(try store.verify().isClean)
    bench.plan.fail(.open, on: .suffix(sealed), sticky: true, .error(PlatformError.tooManyFiles))
    #expect(throws: failure) { try store.verify() }
    #expect(throws: failure) { try store.backup(to: "/backup", copying: true) }
    // Nothing else needs a descriptor.
    #expect(try store.contents() == expected)
    try store.put("new", forKey: "0", durability: .synced)
    try store.remove("0")
    try store.merge()
    bench.plan.heal()
    #expect(try store.verify().isClean)
    try store.backup(to: "/backup", copying: true)
    try store.merge()
    #expect(try store.contents() == expected.filter { $0.key != bytes("0") })
    #expect(bench.damage.isEmpty)
  }

  @Test func whenDescriptorsRunOutTheErrorSaysWhatToDo() async {
    await #expect(processExitsWith: .success) {
      let crowd = try Crowd()
      let store = try crowd.open()
      try store.put("value", forKey: "key")
      try store.close()
      let most = DescriptorLimit.current
      try FileLimit.leave(1)
      do throws(StoreError) {
        _ = try crowd.open()
        Issue.record("it opened")
      } catch {
        #expect(error.description.contains("Too many open files"))
        #expect(error.description.contains("cannot open \(crowd.path)/"))
        #expect(error.description.contains("ulimit -n"))
      }
      try ResourceLimit.openFiles.set(most)
      #expect(try crowd.open().get("key") == bytes("value"))
    }
    let ofMachine = StoreError.failed(operation: "open", path: "file", errno: PlatformError.tooManyFilesOnMachine)
    #expect(ofMachine.description.contains("cannot open file: "))
    #expect(ofMachine.description.contains("the whole machine"))
    #expect(!ofMachine.description.contains("ulimit"))
  }

  @Test func whatIsNoFaultOfTheSystemHasNoWordsOfIt() {
    let error = StoreError.failed(operation: "flush queued values (not JSON) to", path: "/store", errno: 0)
    #expect(error.description == "cannot flush queued values (not JSON) to /store")
  }

  @Test func aSnapshotReadsAndABackupCopiesFilesThatAreGone() async {
    await #expect(processExitsWith: .success) {
      Self.limited {
        for copying in [false, true] {
          var crowd = try Crowd()
          // The footers of many records stand where a segment has no address space any more: they go with the name.
          crowd.length = 150
          let store = try crowd.open { $0.merge.isAutomatic = false }
          try crowd.put(0..<24_000, round: 1, to: store)
          #expect(store.statistics.segments.count > Self.room)
          let snapshot = try store.snapshot()
          let then = crowd.expected
          try crowd.put(stride(from: 0, to: 24_000, by: 2), round: 2, to: store)
          let path = crowd.directory.appending("backup")
          var isMerged = false
          // Amid the copying: what is still to be copied has no name any more.
          try store.backup(to: path, copying: copying) { progress in
            if progress > 0.6, !isMerged {
              isMerged = true
              do { try store.merge() } catch { Issue.record(error) }
            }
            return true
          }
          #expect(isMerged)
          #expect(try snapshot.contents() == then)
          try crowd.expectContents(store)
          let report = try store.probe.verifySegments(of: snapshot)
          #expect(report.isClean, "\(report.damage)")
          try crowd.expectContents(try LogStore(at: path))
          try store.close()
        }
      }
    }
  }
}
