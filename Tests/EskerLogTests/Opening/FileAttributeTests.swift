import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Who may use a store's files, and when.
@Suite struct FileAttributeTests {
  private func names(_ machine: Machine) throws -> [String] {
    try machine.disk.list(machine.path).map { "\(machine.path)/\($0)" } + [machine.path]
  }

  /// Uses what makes files of each kind.
  private func use(_ store: LogStore) throws {
    for number in 0..<200 { try store.put([UInt8](repeating: 1, count: 1_000), forKey: "key \(number % 80)") }
    _ = try store.keyspace("another")
    store.probe.writeCheckpoint()
    try store.merge()
    for number in 0..<100 { try store.put([UInt8](repeating: 2, count: 1_000), forKey: "key \(number % 80)") }
    store.probe.writeCheckpoint()
    try store.sync()
  }

  @Test func everyFileOfTheStoreGetsThem() throws {
    let machine = Machine()
    let wanted = FileAttributes(protection: .completeUntilFirstUserAuthentication, isExcludedFromBackup: true)
    let store = try machine.open {
      $0.fileProtection = .completeUntilFirstUserAuthentication
      $0.isExcludedFromBackup = true
      $0.statisticsInterval = .seconds(1)
    }
    try use(store)
    for path in try names(machine) { #expect(machine.disk.attributes(of: path) == wanted, "\(path)") }
    let suffixes = Set(try names(machine).map { String($0.split(separator: ".").last ?? "") })
    #expect(suffixes.isSuperset(of: ["a", "b", "segment", "checkpoint"]), "\(suffixes)")
    // So does a copy of it.
    try store.backup(to: "/backup")
    for name in try machine.disk.list("/backup") {
      #expect(machine.disk.attributes(of: "/backup/\(name)") == wanted, "\(name)")
    }
    try store.close()
    for path in try names(machine) { #expect(machine.disk.attributes(of: path) == wanted, "\(path)") }
  }

  @Test func anotherChoiceChangesAllThatIsThere() throws {
    let machine = Machine()
    var store = try machine.open()
    try use(store)
    try store.close()
    for path in try names(machine) { #expect(machine.disk.attributes(of: path) == FileAttributes()) }
    store = try machine.open { $0.fileProtection = .complete }
    for path in try names(machine) {
      #expect(machine.disk.attributes(of: path) == FileAttributes(protection: .complete), "\(path)")
    }
    try store.close()
    store = try machine.open { $0.isExcludedFromBackup = true }
    let both = FileAttributes(protection: .complete, isExcludedFromBackup: true)
    for path in try names(machine) { #expect(machine.disk.attributes(of: path) == both, "\(path)") }
    try store.close()
    // A reader changes nothing, and an opening that says nothing neither.
    store = try machine.open {
      $0.fileProtection = .unprotected
      $0.readOnly = true
    }
    try store.close()
    try machine.open().close()
    for path in try names(machine) { #expect(machine.disk.attributes(of: path) == both, "\(path)") }
    store = try machine.open {
      $0.fileProtection = .unprotected
      $0.isExcludedFromBackup = false
    }
    let neither = FileAttributes(protection: .unprotected, isExcludedFromBackup: false)
    for path in try names(machine) { #expect(machine.disk.attributes(of: path) == neither, "\(path)") }
    try store.close()
  }

  @Test func withoutThemNothingIsMade() throws {
    var machine = Machine()
    let plan = FaultPlan()
    machine.calls = plan
    plan.fail(.setAttributes, sticky: true, .error(EPERM))
    #expect(throws: StoreError.accessDenied(path: machine.path, errno: EPERM)) {
      try machine.open { $0.fileProtection = .complete }
    }
    #expect(try machine.disk.list("/").isEmpty)
    // Who asks for none is not refused any.
    try machine.open().close()
  }

  // MARK: Permissions

  @Test func aStoreIsForItsOwnerUnlessItsDirectoryIsShared() throws {
    let directory = try TemporaryDirectory()
    for (shared, expected) in [(nil, 0o600), (0o700, 0o600), (0o770, 0o660), (0o755, 0o644)] as [(mode_t?, mode_t)] {
      let path = directory.appending("\(shared ?? 0)")
      if let shared {
        try OSFileSystem().createDirectory(path)
        try #require(chmod(path, shared) == 0)
      }
      var options = Options()
      options.segmentSize = 64 << 10
      let store = try LogStore(at: path, options: options)
      try use(store)
      // One that was just replaced is gone.
      let modes = try OSFileSystem().list(path).compactMap { mode("\(path)/\($0)") }
      #expect(modes.count >= 4 && modes.allSatisfy { $0 == expected }, "\(modes) in \(String(describing: shared))")
      #expect(mode(path) == shared ?? 0o700)
      try store.close()
    }
  }

  /// The permissions of a file; nil if it is gone.
  private func mode(_ path: String) -> mode_t? {
    var result = stat()
    return stat(path, &result) == 0 ? result.st_mode & 0o777 : nil
  }
}
