import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct BackupTests {
  private let machine = Machine()

  private func open(_ path: String, readOnly: Bool = false) throws(StoreError) -> LogStore {
    try LogStore(at: path, options: machine.options { $0.readOnly = readOnly }, host: machine.host)
  }

  /// A store of several segments, in keyspaces, with removals, expiry and a batch.
  private func fill(_ store: LogStore, count: Int = 400) throws {
    let other = try store.keyspace("other")
    for number in 0..<count {
      try store.put([UInt8](repeating: UInt8(number & 255), count: 700), forKey: "key \(number % 300)")
      if number % 3 == 0 { try other.put("other \(number)", forKey: "key \(number)", expiry: .after(.seconds(number))) }
      if number % 10 == 0 { try store.remove("key \(number / 2)") }
    }
    try store.write { (batch) throws(StoreError) in
      try batch.put("a", forKey: "batch a")
      try batch.put("b", forKey: "batch b", in: other)
    }
  }

  @Test func aBackupIsAStoreWithTheSameContents() throws {
    let store = try machine.open()
    try fill(store)
    let report = try store.backup(to: "/backup")
    let expected = try store.contents()
    let other = try store.contents(of: store.keyspace("other"))
    #expect(report.sequence == store.lastSequence)
    #expect(report.sharedSegments > 2 && report.sharedSegments < report.segments)
    let backup = try open("/backup", readOnly: true)
    #expect(try backup.verify().isClean)
    #expect(try backup.contents() == expected)
    #expect(try backup.contents(of: backup.keyspace("other")) == other)
    #expect(backup.lastSequence == store.lastSequence)
    #expect(try backup.count() == store.count())
  }

  @Test func aBackupOfAnEmptyStoreIsAnEmptyStore() throws {
    let store = try machine.open()
    _ = try store.keyspace("other")
    try store.backup(to: "/backup")
    let backup = try open("/backup")
    #expect(try backup.totalCount() == 0)
    #expect(try backup.keyspaceNames.contains("other"))
    #expect(backup.probe.storeID == store.probe.storeID)
  }

  @Test func emptiedKeyspacesStayEmpty() throws {
    let store = try machine.open()
    try fill(store)
    try store.keyspace("other").removeAll()
    try store.keyspace("other").put("new", forKey: "new")
    try store.keyspace("other").setDefaultExpiry(.seconds(5))
    try store.backup(to: "/backup")
    let other = try open("/backup").keyspace("other")
    #expect(try other.store.contents(of: other) == [bytes("new"): bytes("new")])
    #expect(other.defaultExpiry == .seconds(5))
  }

  @Test func whatIsWrittenLaterIsNotInTheBackup() throws {
    let store = try machine.open()
    try fill(store)
    let expected = try store.contents()
    try store.backup(to: "/backup")
    for number in 0..<300 { try store.put("later", forKey: "key \(number)") }
    try store.close()
    #expect(try open("/backup", readOnly: true).contents() == expected)
  }

  @Test func writingToTheBackupLeavesTheStoreAlone() throws {
    let store = try machine.open()
    try fill(store)
    try store.backup(to: "/backup")
    let expected = try store.contents()
    let before = try files(of: "/store")
    let backup = try open("/backup")
    for number in 0..<500 { try backup.put([UInt8](repeating: 9, count: 700), forKey: "key \(number)") }
    try backup.close()
    #expect(try files(of: "/store") == before)
    #expect(try store.contents() == expected)
    #expect(try store.verify().isClean)
    let again = try open("/backup")
    #expect(try again.get("key 499") == [UInt8](repeating: 9, count: 700))
    #expect(try again.verify().isClean)
  }

  @Test func writingToTheStoreAndClosingItLeavesTheBackupAlone() throws {
    let store = try machine.open()
    try fill(store)
    try store.backup(to: "/backup")
    let before = try files(of: "/backup")
    try fill(store, count: 900)
    try store.close()
    let again = try machine.open()
    try fill(again)
    try again.close()
    #expect(try files(of: "/backup") == before)
  }

  @Test func unusedSpaceOfASharedFileIsNotGivenBack() throws {
    var machine = machine
    let first = try machine.open()
    for number in 0..<5 { try first.put("v", forKey: "\(number)", durability: .synced) }
    first.probe.kill()
    // Recovery ends the segment far ahead of what is allocated.
    let store = try machine.reopenAfterKill()
    try store.put("v", forKey: "next", durability: .synced)
    _ = try store.keyspace("an edit of the manifest")
    #expect(try store.backup(to: "/backup").sharedSegments == 1)
    func lengths() throws -> [Int?] {
      try machine.disk.list("/backup").sorted().map { try machine.disk.status("/backup/\($0)")?.size }
    }
    let before = try lengths()
    try store.close()
    #expect(try lengths() == before)
  }

  private func files(of directory: String) throws -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for name in try machine.disk.list(directory) where name.hasSuffix(".segment") {
      let file = try machine.disk.open("\(directory)/\(name)", .read)
      result[name] = try file.allBytes()
    }
    return result
  }

  @Test func nothingIsWrittenOverWhatIsThere() throws {
    let store = try machine.open()
    try fill(store)
    try machine.disk.createDirectory("/taken")
    let file = try machine.disk.open("/taken/mine", .create)
    try file.writeAll([1, 2, 3], at: 0)
    #expect(throws: StoreError.directoryNotEmpty(path: "/taken")) { try store.backup(to: "/taken") }
    #expect(throws: StoreError.directoryNotEmpty(path: "/taken/mine")) { try store.backup(to: "/taken/mine") }
    #expect(throws: StoreError.directoryNotEmpty(path: "/store")) { try store.backup(to: "/store") }
    #expect(try machine.disk.list("/taken") == ["mine"])
    #expect(try file.allBytes() == [1, 2, 3])
    try machine.disk.createDirectory("/empty")
    #expect(throws: Never.self) { try store.backup(to: "/empty") }
  }

  @Test func aClosedStoreCannotBeBackedUp() throws {
    let store = try machine.open()
    try store.close()
    #expect(throws: StoreError.closed) { try store.backup(to: "/backup") }
    #expect(try machine.disk.status("/backup") == nil)
  }

  @Test func aReaderCanBackUpBesideTheWriter() throws {
    let store = try machine.open()
    try fill(store)
    let reader = try open("/store", readOnly: true)
    try store.put("after", forKey: "the reader came")
    try reader.backup(to: "/backup")
    #expect(try open("/backup").contents() == store.contents())
  }

  @Test func aSegmentThatIsUnlinkedMeanwhileIsCopied() throws {
    let store = try machine.open()
    try fill(store)
    let expected = try store.contents()
    let reader = try open("/store", readOnly: true)
    for file in try machine.files(".segment").dropLast(3) { try machine.disk.remove(file) }
    let report = try reader.backup(to: "/backup")
    #expect(report.copiedBytes > 64 << 10)
    #expect(try open("/backup").contents() == expected)
    #expect(try open("/backup", readOnly: true).verify().isClean)
  }

  @Test func copyingSharesNoFile() throws {
    let store = try machine.open()
    try fill(store)
    let report = try store.backup(to: "/backup", copying: true)
    #expect(report.sharedSegments == 0 && report.copiedBytes == report.bytes)
    for file in try machine.files(".segment") { #expect(try machine.disk.status(file)?.linkCount == 1) }
    #expect(try open("/backup").contents() == store.contents())
  }

  @Test func restoringMakesAStoreOfItsOwn() throws {
    let store = try machine.open()
    try fill(store)
    let expected = try store.contents()
    try store.backup(to: "/backup")
    try store.close()
    try LogStore.restore(from: "/backup", to: "/restored", copying: false, host: machine.host)
    let restored = try open("/restored")
    #expect(try restored.contents() == expected)
    try restored.put("new", forKey: "new")
    try restored.close()
    #expect(try open("/backup", readOnly: true).contents() == expected)
    #expect(throws: StoreError.directoryNotEmpty(path: "/restored")) {
      try LogStore.restore(from: "/backup", to: "/restored", copying: false, host: machine.host)
    }
  }

  @Test func aLaterBackupSharesWhatAnEarlierOneHas() throws {
    // What was backed up stays where it is.
    let store = try machine.open { $0.merge.isAutomatic = false }
    try fill(store)
    try store.backup(to: "/first", copying: true)
    try fill(store, count: 500)
    let second = try store.backup(to: "/second", reusing: "/first", copying: true)
    #expect(second.sharedSegments > 2 && second.copiedBytes < second.bytes)
    // Neither needs the other.
    for name in try machine.disk.list("/first") { try machine.disk.remove("/first/\(name)") }
    let backup = try open("/second")
    #expect(try backup.contents() == store.contents())
    #expect(try backup.verify().isClean)
  }

  @Test func anEarlierBackupOfAnotherStoreIsRefused() throws {
    let store = try machine.open()
    try fill(store)
    let platform = machine.disk.platform(clock: machine.clock, seed: 2)
    let host = StoreHost(platform: platform, background: .inline)
    let other = try LogStore(at: "/other", options: machine.options(), host: host)
    try other.put("v", forKey: "k")
    try other.close()
    #expect(throws: StoreError.otherStore(path: "/other")) { try store.backup(to: "/backup", reusing: "/other") }
    #expect(try machine.disk.status("/backup") == nil)
  }

  @Test func aFileOfAnEarlierBackupThatWasReplacedIsNotShared() throws {
    let store = try machine.open()
    try fill(store)
    try store.backup(to: "/first", copying: true)
    let names = try machine.disk.list("/first").filter { $0.hasSuffix(".segment") }.sorted()
    try machine.disk.remove("/first/\(names[0])")
    try machine.disk.link("/first/\(names[1])", to: "/first/\(names[0])")
    try store.backup(to: "/second", reusing: "/first", copying: true)
    #expect(try open("/second").contents() == store.contents())
  }

  /// A flip is in a record, a header or a footer, and the backup names its place; or it is nowhere, and the backup is whole.
  @Test func aDamagedByteIsNotBackedUp() throws {
    let original = Machine()
    let store = try original.open()
    for number in 0..<6 { try store.put("value \(number)", forKey: "key \(number)") }
    let expected = try store.contents()
    try store.close()
    let image = try DiskImage(of: original)
    var refused = 0
    for name in image.names where name.hasSuffix(".segment") {
      for offset in 0..<min(600, image.files[name]?.count ?? 0) {
        let machine = try image.flipping(name, offset, bit: offset % 8).machine()
        let damaged = try machine.open { $0.readOnly = true }
        do throws(StoreError) { try damaged.backup(to: "/backup") } catch {
          guard case .damaged(let location, let reason) = error else { throw error }
          #expect(location.path == "/store/\(name)")
          #expect(location.offset.map { $0 <= offset } == true)
          #expect(reason.contains("nothing was copied"))
          #expect(try machine.disk.status("/backup") == nil)
          refused += 1
          continue
        }
        let backup = try LogStore(at: "/backup", options: machine.options { $0.readOnly = true }, host: machine.host)
        #expect(try backup.contents() == expected, "\(name) \(offset)")
      }
    }
    #expect(refused > 300)
  }

  /// Whatever is wrong with what would come along is named: in a sealed segment, in its footer, in the last one, missing ends.
  @Test(arguments: [false, true]) func damageAnywhereIsNamed(copying: Bool) throws {
    let killed = try KilledStore()
    for row in killed.rows where row.recordsEnd != 0 {
      let name = FileName.segment(row.id)
      var images = [killed.image.flipping(name, 40, bit: 3), killed.image.truncating(name, to: 20_000)]
      // In what is not durable for certain, a damaged record is where a crash has cut the log.
      if row.state == .sealed { images.append(killed.image.flipping(name, 3_000, bit: 1)) }
      if row.footerOffset != 0 { images.append(killed.image.flipping(name, Int(row.footerOffset) + 5, bit: 0)) }
      for image in images {
        let machine = try image.machine()
        let store = try machine.open { $0.readOnly = true }
        #expect {
          try store.backup(to: "/backup", copying: copying)
        } throws: { error in
          guard case StoreError.damaged(let location, _) = error else { return false }
          return location.path.hasSuffix(name)
        }
        #expect(try machine.disk.status("/backup") == nil)
        try store.close()
      }
    }
  }

  /// Neither is part of a backup.
  @Test func aDamagedCheckpointOrCopyOfTheManifestIsNoReasonToRefuse() throws {
    let original = Machine()
    let store = try original.open()
    for number in 0..<6 { try store.put("value \(number)", forKey: "key \(number)") }
    let expected = try store.contents()
    try store.close()
    let image = try DiskImage(of: original)
    for name in image.names where name.hasSuffix(".checkpoint") || name.hasPrefix("manifest") {
      let machine = try image.flipping(name, 100, bit: 1).machine()
      let damaged = try machine.open { $0.readOnly = true }
      try damaged.backup(to: "/backup")
      let backup = try LogStore(at: "/backup", options: machine.options { $0.readOnly = true }, host: machine.host)
      #expect(try backup.contents() == expected)
      #expect(try backup.verify().isClean)
    }
  }
}
