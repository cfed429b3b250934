import EskerPlatform
import EskerTestSupport
import Testing

/// What each policy may and must leave after a power failure.
@Suite struct CrashTests {
  private static let old: UInt8 = 1
  private static let new: UInt8 = 2

  /// A disk with a durable file of three pages, all overwritten since by write and by store.
  private func overwritten() throws -> (disk: SimulatedDisk, mapping: any Mapping) {
    let disk = SimulatedDisk()
    let file = try disk.open("/a", .create)
    try file.write(filled(Self.old, 3 * 4096))
    try file.sync()
    try disk.syncDirectory("/")
    try file.write(filled(Self.new, 2 * 4096))
    let mapping = try file.map(capacity: 1 << 20, writable: true)
    try mapping.extend(to: 3 * 4096)
    for offset in 2 * 4096..<3 * 4096 { mapping[offset] = Self.new }
    return (disk, mapping)
  }

  @Test func dropLosesUnsyncedBytesAndNames() throws {
    let (disk, mapping) = try overwritten()
    try disk.create("/unsynced", [1], synced: true)
    var generator = SeededGenerator(seed: 1)
    let image = try disk.crashImage(.drop, using: &generator)
    #expect(try image.contents("/a") == filled(Self.old, 3 * 4096))
    #expect(try image.list("/") == ["a"])
    #expect(try disk.contents("/a") == filled(Self.new, 3 * 4096), "the running disk is not disturbed")
    #expect(try disk.list("/").count == 2)
    #expect(mapping[0] == Self.new)
  }

  @Test func syncMakesStoresThroughAMappingDurable() throws {
    let (disk, mapping) = try overwritten()
    try disk.open("/a", .readWrite).sync()
    mapping[5] = 77
    var generator = SeededGenerator(seed: 1)
    let image = try disk.crashImage(.drop, using: &generator)
    #expect(try image.contents("/a") == filled(Self.new, 3 * 4096))
  }

  @Test func keepKeepsEverything() throws {
    let (disk, mapping) = try overwritten()
    mapping[4097] = 9
    try disk.create("/b", [1, 2])
    try disk.rename("/b", to: "/c")
    var generator = SeededGenerator(seed: 1)
    let image = try disk.crashImage(.keep, using: &generator)
    #expect(try image.list("/").sorted() == ["a", "c"])
    #expect(try image.contents("/c") == [1, 2])
    var expected = filled(Self.new, 3 * 4096)
    expected[4097] = 9
    #expect(try image.contents("/a") == expected)
    let again = try image.crashImage(.drop, using: &generator)
    #expect(try again.contents("/a") == expected, "what survived a power failure is durable")
  }

  @Test func reorderKeepsOrLosesPagesWholeInEverySubset() throws {
    let (disk, mapping) = try overwritten()
    defer { mapping.unmap() }
    var generator = SeededGenerator(announcedFor: "reorder")
    var seen: Set<[UInt8]> = []
    for _ in 0..<200 {
      let bytes = try #require(try disk.crashImage(.reorder, using: &generator).contents("/a"))
      #expect(bytes.count == 3 * 4096)
      for page in 0..<3 { #expect(isUniform(bytes[page * 4096..<(page + 1) * 4096])) }
      seen.insert([bytes[0], bytes[4096], bytes[8192]])
    }
    #expect(seen.count == 8)
  }

  @Test func tearCutsAtSectorsAndNowAndThenInside() throws {
    let (disk, mapping) = try overwritten()
    defer { mapping.unmap() }
    var generator = SeededGenerator(announcedFor: "tear")
    var (whole, tornAtSectors, tornInside) = (0, 0, 0)
    for _ in 0..<400 {
      let bytes = try #require(try disk.crashImage(.tear, using: &generator).contents("/a"))
      for page in 0..<3 {
        let content = bytes[page * 4096..<(page + 1) * 4096]
        let sectors = (0..<8).map { content.dropFirst($0 * 512).prefix(512) }
        if isUniform(content) {
          whole += 1
        } else if sectors.allSatisfy(isUniform) {
          tornAtSectors += 1
        } else {
          tornInside += 1
        }
      }
      #expect(bytes.allSatisfy { $0 == Self.old || $0 == Self.new })
    }
    // Of 1,200 pages; about a tenth is torn in either way.
    #expect(whole > 400)
    #expect(tornAtSectors > 40)
    #expect(tornInside > 40)
  }

  @Test(arguments: [CrashPolicy.tear, .reorder]) func unsyncedLengthLiesBetweenOldAndNew(_ policy: CrashPolicy) throws {
    let disk = SimulatedDisk()
    let file = try disk.open("/a", .create)
    try file.write(filled(1, 1000))
    try file.sync()
    try disk.syncDirectory("/")
    try file.write(filled(2, 9000), at: 1000)
    var generator = SeededGenerator(announcedFor: "length")
    var lengths: Set<Int> = []
    for _ in 0..<100 {
      let bytes = try #require(try disk.crashImage(policy, using: &generator).contents("/a"))
      lengths.insert(bytes.count)
      #expect((1000...10_000).contains(bytes.count))
      #expect(bytes.prefix(1000) == filled(1, 1000)[...], "a page with synced bytes only ever gains")
      #expect(bytes.dropFirst(1000).allSatisfy { $0 == 0 || $0 == 2 })
    }
    #expect(lengths.isSuperset(of: [1000, 10_000]))
    #expect(lengths.count > 2)
  }

  @Test func reservedLengthIsLostUnlessSynced() throws {
    let disk = SimulatedDisk()
    let file = try disk.open("/a", .create)
    try disk.syncDirectory("/")
    try file.reserve(1 << 30)
    var generator = SeededGenerator(seed: 1)
    #expect(try disk.crashImage(.drop, using: &generator).status("/a")?.size == 0)
    try file.sync()
    #expect(try disk.crashImage(.drop, using: &generator).status("/a")?.size == 1 << 30)
  }

  @Test func syncedFileInAnUnsyncedDirectoryMayVanish() throws {
    let disk = SimulatedDisk()
    try disk.create("/a", [1, 2, 3], synced: true)
    var generator = SeededGenerator(announcedFor: "vanish")
    var outcomes: Set<[UInt8]?> = []
    for _ in 0..<50 { outcomes.insert(try disk.crashImage(.tear, using: &generator).contents("/a")) }
    #expect(outcomes == [nil, [1, 2, 3]])
    try disk.syncDirectory("/")
    for _ in 0..<20 { #expect(try disk.crashImage(.tear, using: &generator).contents("/a") == [1, 2, 3]) }
  }

  @Test func durableNameOfAnUnsyncedFileMayBeEmpty() throws {
    let disk = SimulatedDisk()
    try disk.create("/a", [1, 2, 3])
    try disk.syncDirectory("/")
    var generator = SeededGenerator(seed: 1)
    #expect(try disk.crashImage(.drop, using: &generator).contents("/a") == [])
  }

  @Test(arguments: [CrashPolicy.tear, .reorder]) func renameIsAtomic(_ policy: CrashPolicy) throws {
    let disk = SimulatedDisk()
    try disk.createDirectory("/d")
    try disk.create("/current", [1], synced: true)
    try disk.create("/d/temporary", [2], synced: true)
    try disk.syncDirectory("/d")
    try disk.syncDirectory("/")
    try disk.rename("/d/temporary", to: "/current")
    var generator = SeededGenerator(announcedFor: "rename")
    var outcomes: Set<[[UInt8]?]> = []
    for _ in 0..<50 {
      let image = try disk.crashImage(policy, using: &generator)
      outcomes.insert([try image.contents("/current"), try image.contents("/d/temporary")])
    }
    #expect(outcomes == [[[1], [2]], [[2], nil]])
    try disk.syncDirectory("/d")
    let image = try disk.crashImage(.drop, using: &generator)
    #expect(try image.contents("/current") == [2], "a rename is durable at both ends")
  }

  @Test func syncAtOneEndOfARenameSettlesTheOtherEndToo() throws {
    let disk = SimulatedDisk()
    try disk.createDirectory("/d")
    try disk.syncDirectory("/")
    try disk.create("/d/a", [1], synced: true)
    try disk.rename("/d/a", to: "/a")
    try disk.syncDirectory("/")
    var generator = SeededGenerator(seed: 1)
    for policy in CrashPolicy.allCases {
      let image = try disk.crashImage(policy, using: &generator)
      #expect(try image.list("/d") == [], "the old name must not come back")
      #expect(try image.contents("/a") == [1])
    }
  }

  @Test func anySubsetOfUnsyncedNameChangesSurvives() throws {
    let disk = SimulatedDisk()
    try disk.create("/a", [])
    try disk.syncDirectory("/")
    try disk.create("/b", [])
    try disk.remove("/a")
    try disk.create("/c", [])
    var generator = SeededGenerator(announcedFor: "subset")
    var outcomes: Set<[String]> = []
    for _ in 0..<100 { outcomes.insert(try disk.crashImage(.reorder, using: &generator).list("/").sorted()) }
    #expect(outcomes.count == 8)
  }

  @Test func removedFileComesBackWithItsSyncedBytesUnlessTheRemovalWasSynced() throws {
    let disk = SimulatedDisk()
    try disk.create("/a", [1], synced: true)
    try disk.syncDirectory("/")
    try disk.remove("/a")
    var generator = SeededGenerator(seed: 1)
    #expect(try disk.crashImage(.drop, using: &generator).contents("/a") == [1])
    try disk.syncDirectory("/")
    #expect(try disk.crashImage(.drop, using: &generator).contents("/a") == nil)
  }

  @Test func killedProcessLosesNothingButPowerStillMay() throws {
    let (disk, mapping) = try overwritten()
    let lock = try disk.open("/lock", .create)
    #expect(try lock.tryLock(exclusive: true))
    let after = try disk.processKilled()
    mapping[0] = 200
    #expect(try after.contents("/a") == filled(Self.new, 3 * 4096))
    #expect(try after.open("/lock", .read).tryLock(exclusive: true), "its locks went with the process")
    var generator = SeededGenerator(seed: 1)
    let image = try after.crashImage(.drop, using: &generator)
    #expect(try image.contents("/a") == filled(Self.old, 3 * 4096))
    #expect(try image.list("/") == ["a"])
  }

  @Test func sameSeedGivesTheSameImage() throws {
    let (disk, mapping) = try overwritten()
    defer { mapping.unmap() }
    for name in ["x", "y", "z"] { try disk.create("/\(name)", filled(3, 5000)) }
    func image() throws -> [[UInt8]?] {
      var generator = SeededGenerator(seed: 99)
      let image = try disk.crashImage(.tear, using: &generator)
      return try ["/a", "/x", "/y", "/z"].map { try image.contents($0) }
    }
    #expect(try image() == image())
  }
}

private func isUniform(_ bytes: ArraySlice<UInt8>) -> Bool {
  Array(bytes) == filled(bytes.first ?? 0, bytes.count)
}
