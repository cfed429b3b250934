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

/// Who may use a new file, and what else is set for it.
@Suite struct FileModeTests {
  private let directory = try? TemporaryDirectory()

  private func path(_ name: String) throws -> String { try #require(directory).appending(name) }

  private func mode(_ path: String) throws -> mode_t {
    var result = stat()
    try #require(stat(path, &result) == 0)
    return result.st_mode & 0o777
  }

  @Test func whatIsMadeIsForItsOwner() throws {
    let files = OSFileSystem()
    let made = try path("made")
    try files.createDirectory(made)
    #expect(try mode(made) == 0o700)
    _ = try files.open(made + "/file", .create)
    #expect(try mode(made + "/file") == 0o600)
  }

  /// However much the umask forbids: it is the directory that says who shares a store.
  @Test(
    arguments: [
      (0o755, 0o644), (0o750, 0o640), (0o770, 0o660), (0o2770, 0o660), (0o775, 0o664), (0o777, 0o666), (0o711, 0o600),
      (0o730, 0o620),
    ] as [(mode_t, mode_t)]
  )
  func aFileIsForThoseWhoShareItsDirectory(_ shared: mode_t, _ expected: mode_t) throws {
    let files = OSFileSystem()
    let made = try path("made")
    try files.createDirectory(made)
    try #require(chmod(made, shared) == 0)
    _ = try files.open(made + "/file", .create)
    #expect(try mode(made + "/file") == expected)
    // What is there keeps what it has.
    try #require(chmod(made + "/file", 0o400) == 0)
    _ = try files.open(made + "/file", .read)
    #expect(try mode(made + "/file") == 0o400)
  }

  @Test func attributesAreSetBeforeAnythingIsWritten() throws {
    let disk = SimulatedDisk()
    let plan = FaultPlan()
    let wanted = FileAttributes(protection: .complete, isExcludedFromBackup: true)
    let files = AttributingFileSystem(FaultyFileSystem(disk, plan: plan), wanted)
    try files.createDirectory("/store")
    try files.create("/store/a", filled(1, 10))
    #expect(disk.attributes(of: "/store") == wanted && disk.attributes(of: "/store/a") == wanted)
    // A name that is new, and the contents that were there.
    try files.link("/store/a", to: "/store/b")
    try files.rename("/store/b", to: "/store/c")
    #expect(disk.attributes(of: "/store/c") == wanted)
    // What cannot be protected is not made.
    plan.fail(.setAttributes, sticky: true, .error(EPERM))
    #expect(errorCode { _ = try files.open("/store/d", .create) } == EPERM)
    #expect(errorCode { try files.createDirectory("/store/e") } == EPERM)
    #expect(try files.list("/store").sorted() == ["a", "c"])
    #expect(try files.contents("/store/a") == filled(1, 10))
  }

  /// On systems without such attributes, and on the volumes of those that have them for others.
  @Test func attributesThatDoNotExistAreNoError() throws {
    let files = AttributingFileSystem(
      OSFileSystem(),
      FileAttributes(protection: .completeUntilFirstUserAuthentication, isExcludedFromBackup: false)
    )
    let made = try path("made")
    try files.createDirectory(made)
    try files.create(made + "/file", filled(1, 10))
    try files.set(FileAttributes(protection: .unprotected, isExcludedFromBackup: true), of: made + "/file")
    #expect(try files.contents(made + "/file") == filled(1, 10))
  }
}
