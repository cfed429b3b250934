import EskerPlatform
import EskerTestSupport
import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What every `FileSystem` must do alike: the machine's, the one in memory, the simulated one, and one with a fault plan without faults.
@Suite struct ConformanceTests {
  enum Kind: CaseIterable { case real, memory, simulated, faultless }

  /// A file system and an empty directory in it.
  final class Fixture {
    let files: any FileSystem
    let directory: String
    private let temporary: TemporaryDirectory?

    init(_ kind: Kind) throws {
      switch kind {
      case .real:
        let temporary = try TemporaryDirectory()
        self.temporary = temporary
        files = OSFileSystem()
        directory = temporary.path
      case .memory:
        temporary = nil
        let memory = MemoryFileSystem()
        files = memory
        directory = memory.root + "/store"
        try files.createDirectory(directory)
      case .simulated, .faultless:
        temporary = nil
        let disk = SimulatedDisk()
        files = kind == .simulated ? disk : FaultyFileSystem(disk, plan: FaultPlan())
        directory = "/store"
        try files.createDirectory(directory)
      }
    }

    func callAsFunction(_ name: String) -> String { "\(directory)/\(name)" }
  }

  @Test(arguments: Kind.allCases) func openModesRefuseWhatTheyMust(_ kind: Kind) throws {
    let at = try Fixture(kind)
    #expect(errorCode { _ = try at.files.open(at("a"), .read) } == ENOENT)
    #expect(errorCode { _ = try at.files.open(at("a"), .readWrite) } == ENOENT)
    try at.files.create(at("a"), [1])
    #expect(errorCode { _ = try at.files.open(at("a"), .create) } == EEXIST)
    #expect(errorCode { _ = try at.files.open(at("none/a"), .create) } == ENOENT)
    #expect(errorCode { _ = try at.files.open(at("a/b"), .create) } == ENOTDIR)
    #expect(errorCode { try at.files.open(at("a"), .read).write([1]) } == EBADF)
    #expect(errorCode { _ = try at.files.open(at("a"), .read).map(capacity: 1, writable: true) } == EACCES)
  }

  @Test(arguments: Kind.allCases) func onlyRelativePathsAreChanged(_ kind: Kind) throws {
    let files = try Fixture(kind).files
    let directory = try files.workingDirectory()
    #expect(directory.hasPrefix("/"))
    #expect(try files.status(directory)?.kind == .directory)
    let prefix = directory == "/" ? "" : directory
    for path in ["a", "a/b", "./a", "../a", "a/../b", ".", "..", "a/", "~/a", "a//b"] {
      #expect(try files.absolute(path) == "\(prefix)/\(path)")
    }
    for path in ["/", "/a", "/a/../b", "//a", "/."] { #expect(try files.absolute(path) == path) }
    #expect(try files.absolute("") == "")
  }

  @Test(arguments: Kind.allCases) func whatHasNoDataIsZerosAndStoresCountAtOnce(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let file = try at.files.open(at("a"), .create)
    let length = 1 << 20
    try file.reserve(length)
    let mapping = try file.map(capacity: length, writable: true)
    try mapping.extend(to: length)
    for place in [length - 1, 300_000, 70_001] {
      (mapping.base + place).storeBytes(of: 7, as: UInt8.self)
      for start in [0, 5_000, 70_001, 70_002, 299_999, 900_000] {
        let first = (start..<length).first { mapping.base.load(fromByteOffset: $0, as: UInt8.self) != 0 }
        let data = file.nextData(from: start)
        #expect(try #require(data) >= start)
        #expect(try #require(data) <= #require(first))
      }
    }
    try file.write([1], at: 10)
    #expect(try #require(file.nextData(from: 0)) <= 10)
    mapping.unmap()
  }

  @Test(arguments: Kind.allCases) func readsAndWritesNameTheirOffset(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let file = try at.files.open(at("a"), .create)
    try file.write([1, 2, 3], at: 5)
    #expect(try file.bytes(0..<100) == [0, 0, 0, 0, 0, 1, 2, 3])
    #expect(try file.bytes(6..<7) == [2])
    #expect(try file.bytes(8..<9) == [])
    #expect(try file.bytes(50..<60) == [])
    try file.write([])
    #expect(try file.status() == FileStatus(kind: .file, size: 8, linkCount: 1))
    let second = try at.files.open(at("a"), .readWrite)
    try second.write([9], at: 5)
    #expect(try file.bytes(5..<6) == [9])
  }

  @Test(arguments: Kind.allCases) func reserveMakesZerosAndNeverShortens(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let file = try at.files.open(at("a"), .create)
    try file.write([7])
    try file.reserve(10_000)
    #expect(try file.status().size == 10_000)
    #expect(try file.allBytes() == [7] + filled(0, 9_999))
    try file.reserve(100)
    #expect(try file.status().size == 10_000)
  }

  @Test(arguments: Kind.allCases) func truncatedBytesReadAsZeroWhenTheFileGrowsAgain(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let file = try at.files.open(at("a"), .create)
    try file.write(filled(5, 9_000))
    try file.sync()
    try file.truncate(4_500)
    #expect(try file.status().size == 4_500)
    try file.truncate(9_000)
    try file.sync()
    #expect(try file.allBytes() == filled(5, 4_500) + filled(0, 4_500))
    #expect(errorCode { try file.truncate(-1) } == EINVAL)
  }

  @Test(arguments: Kind.allCases) func closedFileRefusesEverythingTwice(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let file = try at.files.open(at("a"), .create)
    file.close()
    file.close()
    #expect(errorCode { try file.write([1]) } == EBADF)
    #expect(errorCode { _ = try file.bytes(0..<1) } == EBADF)
    #expect(errorCode { try file.sync() } == EBADF)
    #expect(errorCode { _ = try file.status() } == EBADF)
    #expect(errorCode { _ = try file.map(capacity: 1, writable: false) } == EBADF)
  }

  @Test(arguments: Kind.allCases) func namesComeAndGo(_ kind: Kind) throws {
    let at = try Fixture(kind)
    try at.files.create(at("a"), [1])
    try at.files.create(at("b"), [2, 2])
    try at.files.createDirectory(at("d"))
    #expect(errorCode { try at.files.createDirectory(at("d")) } == EEXIST)
    #expect(try at.files.list(at.directory).sorted() == ["a", "b", "d"])
    #expect(try at.files.status(at("d"))?.kind == .directory)
    #expect(try at.files.status(at("a")) == FileStatus(kind: .file, size: 1, linkCount: 1))
    #expect(try at.files.status(at("x")) == nil)
    #expect(try at.files.status(at("a/x")) == nil)

    try at.files.rename(at("a"), to: at("b"))
    #expect(try at.files.list(at.directory).sorted() == ["b", "d"])
    #expect(try at.files.contents(at("b")) == [1])
    try at.files.rename(at("b"), to: at("d/c"))
    #expect(try at.files.list(at("d/../d/.")) == ["c"])
    #expect(errorCode { try at.files.removeDirectory(at("d")) } == ENOTEMPTY)
    #expect(errorCode { try at.files.removeDirectory(at("d/c")) } == ENOTDIR)
    try at.files.remove(at("d/c"))
    #expect(try at.files.list(at("d")) == [])
    try at.files.removeDirectory(at("d"))
    #expect(try at.files.status(at("d")) == nil)
    #expect(errorCode { try at.files.removeDirectory(at("d")) } == ENOENT)
    #expect(errorCode { try at.files.remove(at("d/c")) } == ENOENT)
    #expect(errorCode { try at.files.rename(at("no"), to: at("b")) } == ENOENT)
    #expect(errorCode { _ = try at.files.list(at("no")) } == ENOENT)
    try at.files.syncDirectory(at.directory)
    #expect(errorCode { try at.files.syncDirectory(at("no")) } == ENOENT)
    #expect(try at.files.freeSpace(at: at.directory) > 0)
  }

  @Test(arguments: Kind.allCases) func linkedFileLivesUntilItsLastName(_ kind: Kind) throws {
    let at = try Fixture(kind)
    try at.files.create(at("a"), [1])
    try at.files.link(at("a"), to: at("b"))
    #expect(try at.files.status(at("a"))?.linkCount == 2)
    #expect(errorCode { try at.files.link(at("a"), to: at("b")) } == EEXIST)
    let file = try at.files.open(at("b"), .readWrite)
    try file.write([4])
    #expect(try at.files.contents(at("a")) == [4])
    try at.files.remove(at("a"))
    #expect(try file.status().linkCount == 1)
    try at.files.remove(at("b"))
    #expect(try file.status().linkCount == 0)
    #expect(try file.allBytes() == [4])
  }

  #if os(Linux)
    @Test func aLockGoesWithItsFileThoughAForkedChildHasTheDescriptor() throws {
      let directory = try TemporaryDirectory()
      let path = directory.appending("lock")
      let files = OSFileSystem()
      let first = try files.open(path, .create)
      #expect(try first.tryLock(exclusive: true))
      // What fork does: another number for the same open file.
      let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
      let own = numbers.filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
      }
      let child = dup(try #require(own.first))
      defer { close(child) }
      first.close()
      #expect(try files.open(path, .readWrite).tryLock(exclusive: true))
    }
  #endif

  @Test(arguments: Kind.allCases) func locksConflictAcrossOpensUntilClosed(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let first = try at.files.open(at("lock"), .create)
    let second = try at.files.open(at("lock"), .readWrite)
    #expect(try first.tryLock(exclusive: true))
    #expect(try first.tryLock(exclusive: true))
    #expect(try !second.tryLock(exclusive: true))
    #expect(try !second.tryLock(exclusive: false))
    #expect(try first.tryLock(exclusive: false))
    #expect(try second.tryLock(exclusive: false))
    #expect(try !second.tryLock(exclusive: true))
    first.close()
    #expect(try second.tryLock(exclusive: true))
    do {
      let third = try at.files.open(at("lock"), .read)
      #expect(try !third.tryLock(exclusive: false))
    }
    second.close()
    do {
      let third = try at.files.open(at("lock"), .read)
      #expect(try third.tryLock(exclusive: true))
    }
    let fourth = try at.files.open(at("lock"), .read)
    #expect(try fourth.tryLock(exclusive: true), "a lock goes with its file object")
  }

  @Test(arguments: Kind.allCases) func mappingGrowsInPlaceAndSharesTheFilesBytes(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let file = try at.files.open(at("a"), .create)
    try file.reserve(100)
    let mapping = try file.map(capacity: 1 << 20, writable: true)
    #expect(mapping.length == 0)
    #expect(errorCode { try mapping.extend(to: 101) } == EINVAL)
    try mapping.extend(to: 100)
    let base = mapping.base
    mapping[99] = 42
    #expect(try file.bytes(99..<100) == [42])
    try file.write([43], at: 3)
    #expect(mapping[3] == 43)

    try file.reserve(50_000)
    try mapping.extend(to: 50_000)
    try mapping.extend(to: 7)
    #expect(mapping.length == 50_000)
    #expect(mapping.base == base)
    #expect(mapping[3] == 43)
    try mapping.populate(0..<50_000)
    mapping.populateForReading(0..<50_000)
    mapping[49_999] = 44
    try file.sync()
    #expect(try file.bytes(49_999..<50_001) == [44])
    #expect(!mapping.isFaulted)
    try file.reserve(2 << 20)
    #expect(errorCode { try mapping.extend(to: 2 << 20) } == EINVAL)

    let reader = try at.files.open(at("a"), .read).map(capacity: 50_000, writable: false)
    try reader.extend(to: 50_000)
    #expect(reader[49_999] == 44)
    mapping[0] = 45
    #expect(reader[0] == 45)
    mapping.unmap()
    mapping.unmap()
    #expect(mapping.length == 0)
    #expect(reader[0] == 45)
  }

  @Test func aTrimmedMappingGivesItsAddressesBackAndKeepsItsBytes() throws {
    let at = try Fixture(.real)
    let file = try at.files.open(at("a"), .create)
    try file.reserve(1 << 20)
    var isGivenBack = false
    // Somebody else may get the addresses at once, but not each time.
    for _ in 0..<100 where !isGivenBack {
      let mapping = try file.map(capacity: 1 << 20, writable: true)
      try mapping.extend(to: MemoryPage.size + 1)
      mapping[MemoryPage.size] = 42
      mapping.trim()
      mapping.trim()
      isGivenBack = msync(mapping.base + 2 * MemoryPage.size, MemoryPage.size, MS_ASYNC) != 0
      #expect(mapping[MemoryPage.size] == 42)
      #expect(errorCode { try mapping.extend(to: 2 * MemoryPage.size + 1) } == EINVAL)
      let other = try file.map(capacity: 1 << 20, writable: false)
      try other.extend(to: 1 << 20)
      mapping.unmap()
      #expect(other[MemoryPage.size] == 42)
    }
    #expect(isGivenBack)
  }

  @Test(arguments: Kind.allCases) func mappingOutlivesClosedFile(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let file = try at.files.open(at("a"), .create)
    try file.write([1, 2])
    let mapping = try file.map(capacity: 4096, writable: true)
    try mapping.extend(to: 2)
    file.close()
    mapping[1] = 9
    #expect(try at.files.contents(at("a")) == [1, 9])
  }

  @Test(arguments: Kind.allCases) func privateMappingKeepsItsStoresToItself(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let file = try at.files.open(at("a"), .create)
    try file.write((0..<20_000).map { UInt8($0 / 4096) })
    let mapping = try file.mapPrivate(4096..<10_001)
    #expect(mapping.length == 10_001 - 4096)
    #expect(mapping[0] == 1)
    #expect(mapping[10_000 - 4096] == 2)
    mapping[0] = 99
    #expect(mapping[0] == 99)
    #expect(try file.bytes(4096..<4097) == [1])
    #expect(errorCode { _ = try file.mapPrivate(1..<4096) } == EINVAL)
    #expect(errorCode { _ = try file.mapPrivate(0..<20_001) } == EINVAL)
    #expect(try file.mapPrivate(0..<0).length == 0)
    #expect(errorCode { try mapping.extend(to: 20_000) } == EINVAL)
  }

  @Test(arguments: Kind.allCases) func truncationUnderAMappingIsZerosAndARaisedFlag(_ kind: Kind) throws {
    let at = try Fixture(kind)
    let file = try at.files.open(at("a"), .create)
    try file.write(filled(7, 20_000))
    let mapping = try file.map(capacity: 1 << 20, writable: true)
    try mapping.extend(to: 20_000)
    let other = try file.map(capacity: 1 << 20, writable: false)
    try other.extend(to: 20_000)
    let flag = mapping.faultFlag
    try at.files.open(at("a"), .readWrite).truncate(MemoryPage.size)
    #expect(!flag.isRaised)
    #expect(mapping[0] == 7)
    #expect(mapping[MemoryPage.size] == 0)
    #expect(flag.isRaised)
    #expect(mapping.isFaulted)
    #expect(!other.isFaulted, "each mapping has a flag of its own")
    mapping[19_999] = 3
    #expect(mapping[19_999] == 3)
    #expect(try file.status().size == MemoryPage.size)
    #expect(other[19_999] == 0)
    #expect(other.isFaulted)
  }
}
