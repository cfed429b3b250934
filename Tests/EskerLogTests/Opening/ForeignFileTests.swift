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

/// A name in a store's directory is not yet one of its files: whoever may put names there must not choose what is written to.
@Suite struct ForeignFileTests {
  let directory: TemporaryDirectory
  let path: String
  let victim: String
  let precious = [UInt8](repeating: 0x70, count: 200)

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
    victim = directory.appending("victim")
    let file = try OSFileSystem().open(victim, .create)
    try file.writeAll(precious, at: 0)
    file.close()
  }

  private var victimIsUntouched: Bool {
    get throws { try OSFileSystem().open(victim, .read).allBytes() == precious }
  }

  private func makeStore() throws {
    let store = try LogStore(at: path)
    try store.put("v", forKey: "k")
    try store.close()
  }

  private func replace(_ name: String, by place: (String, String) -> Int32) throws {
    if try OSFileSystem().status("\(path)/\(name)") != nil { try OSFileSystem().remove("\(path)/\(name)") }
    #expect(place(victim, "\(path)/\(name)") == 0)
  }

  @Test(arguments: ["LOCK", "manifest.a", "manifest.b"], [false, true])
  func aLinkIsNotFollowed(_ name: String, readOnly: Bool) throws {
    try makeStore()
    try replace(name) { symlink($0, $1) }
    let error = #expect(throws: StoreError.self) {
      let store = try LogStore(at: path, options: Options { $0.readOnly = readOnly })
      try store.put("w", forKey: "k")
    }
    guard case .failed(_, let where_, ELOOP) = try #require(error) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(where_ == "\(path)/\(name)")
    #expect("\(try #require(error))".contains("symbolic link"))
    #expect(try victimIsUntouched)
  }

  @Test func aLinkInAnEmptyDirectoryIsNotFollowed() throws {
    try OSFileSystem().createDirectory(path)
    try replace("LOCK") { symlink($0, $1) }
    #expect(throws: StoreError.self) { try LogStore(at: path) }
    #expect(try victimIsUntouched)
  }

  @Test func theReserveDoesNotGrowWhatALinkLeadsTo() throws {
    try makeStore()
    try replace("reserve") { symlink($0, $1) }
    SpaceReserve(directory: path, fileSystem: OSFileSystem()).fill(to: 128 << 10)
    #expect(try victimIsUntouched)
  }

  /// A link may stand for the directory itself: people put stores on other volumes that way.
  @Test func aLinkToTheDirectoryIsFollowed() throws {
    try makeStore()
    let link = directory.appending("link")
    #expect(symlink(path, link) == 0)
    let store = try LogStore(at: link)
    #expect(try store.get("k") == bytes("v"))
    try store.close()
  }

  /// Which would change under both names.
  @Test func aLockFileThatIsAnotherFileIsRefused() throws {
    try makeStore()
    try replace("LOCK") { link($0, $1) }
    let error = #expect(throws: StoreError.self) { try LogStore(at: path) }
    guard case .failed(_, "\(path)/LOCK", EMLINK) = try #require(error) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try LogStore(at: path, options: Options { $0.readOnly = true }).get("k") == bytes("v"))
    #expect(try victimIsUntouched)
  }

  @Test func aReaderDoesNotWriteToALockFileThatIsNone() throws {
    try makeStore()
    try OSFileSystem().remove("\(path)/LOCK")
    let file = try OSFileSystem().open("\(path)/LOCK", .create)
    try file.writeAll(precious, at: 0)
    #expect(try LogStore(at: path, options: Options { $0.readOnly = true }).get("k") == bytes("v"))
    #expect(try file.allBytes() == precious)
  }

  /// Whatever two openers do to a lock file that is none, one has the store.
  @Test(arguments: [FaultOperation.remove, .create])
  func oneOfTwoOpenersReplacesTheLockFile(_ moment: FaultOperation) throws {
    let machine = Machine()
    try machine.open().close()
    try machine.disk.open("\(machine.path)/LOCK", .readWrite).writeAll(precious, at: 0)
    let plan = FaultPlan()
    let other = Guarded<Result<LogStore, any Error>?>(nil)
    plan.onCall { call in
      guard call.operation == moment, call.path.hasSuffix("LOCK") else { return }
      plan.onCall(nil)
      let result = Result<LogStore, any Error> { try machine.open() }
      other.withLock { $0 = result }
    }
    var host = machine.host
    host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan)
    let own = Result<LogStore, any Error> { try LogStore(at: machine.path, options: machine.options(), host: host) }
    let results = [own, try #require(other.withLock { $0 })]
    #expect(results.count { if case .success = $0 { true } else { false } } == 1, "\(results)")
    for case .success(let store) in results {
      #expect(throws: StoreError.self) { try machine.open() }
      try store.close()
    }
  }
}

extension Options {
  fileprivate init(_ change: (inout Options) -> Void) {
    self.init()
    change(&self)
  }
}
