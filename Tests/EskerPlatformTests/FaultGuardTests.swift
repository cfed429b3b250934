import EskerPlatform
import EskerTestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A bus error inside Esker's mappings is survived; any other is none of its business.
@Suite struct FaultGuardTests {
  @Test func firstTouchOfAVanishedPageByAStoreIsSurvived() throws {
    let directory = try TemporaryDirectory()
    let file = try OSFileSystem().open(directory.appending("a"), .create)
    try file.reserve(1 << 20)
    let mapping = try file.map(capacity: 1 << 20, writable: true)
    try mapping.extend(to: 1 << 20)
    try file.truncate(0)
    for offset in stride(from: 0, to: 1 << 20, by: 4096) { mapping[offset] = 1 }
    #expect(mapping.isFaulted)
    #expect((0..<256).allSatisfy { mapping[$0 * 4096] == 1 })
  }

  /// Other tests of the process have their own.
  @Test func eachFaultCounts() throws {
    let directory = try TemporaryDirectory()
    let file = try OSFileSystem().open(directory.appending("a"), .create)
    try file.reserve(1 << 16)
    let mapping = try file.map(capacity: 1 << 16, writable: true)
    try mapping.extend(to: 1 << 16)
    try file.truncate(4096)
    let before = MappingFaults.count
    MappingFaults.touch(mapping.base, byteCount: 4096)
    #expect(!mapping.isFaulted)
    MappingFaults.touch(mapping.base + 100, byteCount: 3 * 4096)
    #expect(mapping.isFaulted)
    #expect(MappingFaults.count &- before >= 3, "the last byte is in a page of its own")
  }

  @Test func populateReportsWhatAStoreWouldHaveDiedOf() throws {
    let directory = try TemporaryDirectory()
    let file = try OSFileSystem().open(directory.appending("a"), .create)
    try file.reserve(1 << 20)
    let mapping = try file.map(capacity: 1 << 20, writable: true)
    try mapping.extend(to: 1 << 20)
    try file.truncate(0)
    #if os(Linux)
      #expect(errorCode { try mapping.populate(0..<4096) } == EIO)
    #endif
    #expect(!mapping.isFaulted)
  }

  @Test func missedPagesAreThereAgainOnceTheMappingIsRenewed() throws {
    let directory = try TemporaryDirectory()
    let file = try OSFileSystem().open(directory.appending("a"), .create)
    try file.reserve(1 << 16)
    let reader = try OSFileSystem().open(directory.appending("a"), .read)
    let mapping = try reader.map(capacity: 1 << 16, writable: false)
    try mapping.extend(to: 1 << 16)
    try file.truncate(4096)
    #expect(mapping[40_000] == 0)
    #expect(mapping.isFaulted)
    try file.reserve(1 << 16)
    try [UInt8](repeating: 7, count: 1 << 16).withUnsafeBytes { try file.write($0, at: 0) }
    #expect(mapping[40_000] == 0, "zeros stay")
    try mapping.renew()
    #expect(!mapping.isFaulted)
    #expect((0..<1 << 16).allSatisfy { mapping[$0] == 7 })
    // And what is missing again is told of again.
    try file.truncate(4096)
    #expect(mapping[50_000] == 0)
    #expect(mapping.isFaulted)
  }

  @Test func slotOfAFaultedMappingIsCleanWhenUsedAgain() throws {
    let directory = try TemporaryDirectory()
    for round in 0..<50 {
      let file = try OSFileSystem().open(directory.appending("\(round)"), .create)
      try file.reserve(8192)
      let mapping = try file.map(capacity: 8192, writable: true)
      try mapping.extend(to: 8192)
      #expect(!mapping.isFaulted)
      try file.truncate(0)
      #expect(mapping[8000] == 0)
      #expect(mapping.isFaulted)
      if round.isMultiple(of: 2) { mapping.unmap() }
    }
  }

  @Test func faultsInManyThreadsAtOnceAreSurvived() async throws {
    let directory = try TemporaryDirectory()
    let file = try OSFileSystem().open(directory.appending("a"), .create)
    try file.reserve(1 << 20)
    let mapping = try file.map(capacity: 1 << 20, writable: true)
    try mapping.extend(to: 1 << 20)
    try file.truncate(0)
    let threads = try (0..<4).map { index in
      try WorkerThread(name: "fault \(index)") {
        for page in 0..<256 { _ = mapping.base.load(fromByteOffset: page * 4096 + index, as: UInt8.self) }
      }
    }
    for thread in threads { thread.join() }
    #expect(mapping.isFaulted)
  }

  @Test func busErrorElsewhereKillsAsBefore() async {
    await #expect(processExitsWith: .signal(SIGBUS)) {
      BusError.restoreDefault()
      try BusError.installGuard()
      BusError.raiseElsewhere()
    }
  }

  @Test func sentBusErrorKillsAsBefore() async {
    await #expect(processExitsWith: .signal(SIGBUS)) {
      BusError.restoreDefault()
      try BusError.installGuard()
      raise(SIGBUS)
    }
  }

  @Test func busErrorElsewhereReachesTheHandlerInstalledBefore() async {
    await #expect(processExitsWith: .exitCode(93)) {
      signal(SIGBUS) { _ in _exit(93) }
      try BusError.installGuard()
      BusError.raiseElsewhere()
    }
  }

  @Test func ownBusErrorDoesNotReachTheHandlerInstalledBefore() async {
    await #expect(processExitsWith: .exitCode(0)) {
      signal(SIGBUS) { _ in _exit(93) }
      let directory = try TemporaryDirectory()
      let file = try OSFileSystem().open(directory.appending("a"), .create)
      try file.reserve(4096)
      let mapping = try file.map(capacity: 4096, writable: true)
      try mapping.extend(to: 4096)
      try file.truncate(0)
      exit(mapping[0] == 0 && mapping.isFaulted ? 0 : 1)
    }
  }
}

enum BusError {
  /// A sanitizer has a handler of its own, which ends the process in another way.
  static func restoreDefault() {
    signal(SIGBUS, SIG_DFL)
  }

  static func installGuard() throws {
    // No core files and no crash reports of deaths that are meant to happen.
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    #if canImport(Glibc)
      setrlimit(__rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue)), &limit)
    #else
      setrlimit(RLIMIT_CORE, &limit)
    #endif
    _ = try ScratchFile().file.map(capacity: 4096, writable: true)
  }

  /// Touches a page behind the end of a file that Esker has not mapped.
  static func raiseElsewhere() {
    guard let file = tmpfile() else { return }
    guard let page = mmap(nil, 4096, PROT_READ, MAP_SHARED, fileno(file), 0), page != MAP_FAILED else { return }
    _exit(Int32(page.load(as: UInt8.self)))
  }
}
