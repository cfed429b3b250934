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

@Suite struct OpeningTests {
  let directory: TemporaryDirectory
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
  }

  private func writeFile(_ path: String, _ contents: [UInt8]) throws {
    let file = try OSFileSystem().open(path, .create)
    try file.writeAll(contents, at: 0)
    file.close()
  }

  @Test func aSecondOpenerInThisProcessIsToldWhoHoldsTheStore() throws {
    let store = try LogStore(at: path)
    #expect(throws: StoreError.locked(path: path, holder: getpid())) { try LogStore(at: path) }
    try store.put("still works", forKey: "k")
    try store.close()
    #expect(try LogStore(at: path).get("k") == bytes("still works"))
  }

  @Test func aSecondOpenerInAnotherProcessIsToldWhoHoldsTheStore() async throws {
    let store = try LogStore(at: path)
    // Not by the environment, which others may be reading.
    await #expect(processExitsWith: .exitCode(42)) { [path = path as String, holder = getpid() as Int32] in
      do throws(StoreError) {
        _ = try LogStore(at: path)
      } catch {
        exit(error == .locked(path: path, holder: holder) ? 42 : 1)
      }
      exit(2)
    }
    try store.put("v", forKey: "k")
  }

  /// A reader looks in that way whether there is a writer.
  @Test(arguments: [false, true]) func anOpeningOutlastsALookAtTheLock(isLong: Bool) throws {
    let machine = Machine()
    try machine.open().close()
    let file = try machine.disk.open("\(machine.path)/LOCK", .read)
    #expect(try file.tryLock(exclusive: false))
    let plan = FaultPlan()
    let looks = Guarded(0)
    plan.onCall { call in
      guard call.operation == .tryLock, call.path.hasSuffix("LOCK") else { return }
      let count = looks.withLock { looks in
        looks += 1
        return looks
      }
      if count == 2, !isLong { file.close() }
    }
    var host = machine.host
    host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan)
    if isLong {
      #expect(throws: StoreError.self) { try LogStore(at: machine.path, options: machine.options(), host: host) }
    } else {
      try LogStore(at: machine.path, options: machine.options(), host: host).close()
    }
  }

  @Test func aLockFileThatNobodyHoldsDoesNotBlock() throws {
    do { try LogStore(at: path).put("v", forKey: "k") }
    for contents in [[], [1, 2, 3], [UInt8](repeating: 0xFF, count: 32), [UInt8](repeating: 7, count: 5000)] {
      try OSFileSystem().remove("\(path)/LOCK")
      try writeFile("\(path)/LOCK", contents)
      #expect(try LogStore(at: path).get("k") == bytes("v"))
    }
    try OSFileSystem().remove("\(path)/LOCK")
    #expect(try LogStore(at: path).get("k") == bytes("v"))
  }

  /// Another process creates the directory at the same moment, or a whole store.
  @Test(arguments: [false, true]) func theDirectoryMayAppearMeanwhile(withAStore: Bool) throws {
    let machine = Machine()
    let plan = FaultPlan()
    plan.onCall { call in
      guard call.operation == .createDirectory else { return }
      plan.onCall(nil)
      do {
        if withAStore { try machine.open().close() } else { try machine.disk.createDirectory(call.path) }
      } catch { Issue.record(error) }
    }
    var host = machine.host
    host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan)
    let store = try LogStore(at: machine.path, options: machine.options(), host: host)
    try store.put("v", forKey: "k")
    try store.close()
    #expect(try machine.open().get("k") == bytes("v"))
  }

  /// Wherever a creation is interrupted, a reader finds a store or none, and never one that is damaged.
  @Test func anInterruptedCreationIsNoDamage() throws {
    var (calls, failures) = (0, 0)
    repeat {
      calls += 1
      let machine = Machine()
      let plan = FaultPlan()
      plan.fail(nil, nth: calls, sticky: true, .partial(bytes: 100, code: PlatformError.noSpace))
      var host = machine.host
      host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan)
      do {
        try LogStore(at: machine.path, options: machine.options(), host: host).close()
        break
      } catch { failures += 1 }
      do throws(StoreError) { try machine.open { $0.readOnly = true }.close() } catch {
        // There is none.
        let isNone: Bool = error == .notAStore(path: machine.path)
        let isMissing: Bool = error == .failed(operation: "open", path: machine.path, errno: ENOENT)
        #expect(isNone || isMissing, "\(error)")
      }
      try machine.open().close()
    } while calls < 1_000
    #expect(failures > 10 && calls < 1_000)
  }

  @Test func aPathThatIsAFileIsRefusedAndUntouched() throws {
    try writeFile(path, bytes("precious"))
    #expect(throws: StoreError.notAStore(path: path)) { try LogStore(at: path) }
    var options = Options()
    options.readOnly = true
    #expect(throws: StoreError.notAStore(path: path)) { try LogStore(at: path, options: options) }
    #expect(try OSFileSystem().open(path, .read).allBytes() == bytes("precious"))
  }

  @Test func aPathBelowAFileIsATypedError() throws {
    try writeFile(path, bytes("precious"))
    #expect {
      try LogStore(at: path + "/below")
    } throws: { error in
      guard case StoreError.failed(_, _, errno: ENOTDIR) = error else { return false }
      return true
    }
  }

  @Test func aPathWhoseParentIsMissingIsATypedError() throws {
    #expect {
      try LogStore(at: path + "/below/deeper")
    } throws: { error in
      guard case StoreError.failed(_, _, errno: ENOENT) = error else { return false }
      return true
    }
    #expect(try OSFileSystem().status(path) == nil)
  }

  @Test(arguments: ["notes.txt", "0000000000000001.segmen", "LOCK2", ".hidden", "manifest.c", "statistics"])
  func aDirectoryOfOtherThingsIsRefusedAndUntouched(_ name: String) throws {
    try OSFileSystem().createDirectory(path)
    try writeFile("\(path)/\(name)", bytes("precious"))
    #expect(throws: StoreError.notAStore(path: path)) { try LogStore(at: path) }
    #expect(try OSFileSystem().list(path) == [name])
    #expect(try OSFileSystem().open("\(path)/\(name)", .read).allBytes() == bytes("precious"))
  }

  @Test func aStoreThatLostItsManifestsIsNotTakenForAnother() throws {
    do { try LogStore(at: path).put("v", forKey: "k") }
    for name in ["manifest.a", "manifest.b"] { try OSFileSystem().remove("\(path)/\(name)") }
    try writeFile("\(path)/statistics", bytes("what a killed process left"))
    let names = try Set(OSFileSystem().list(path))
    #expect {
      try LogStore(at: path)
    } throws: { error in
      guard case StoreError.damaged(_, let reason) = error else { return false }
      return reason.contains("salvage")
    }
    #expect(try Set(OSFileSystem().list(path)) == names)
  }

  @Test func aStoreWithOthersFilesInItKeepsThem() throws {
    do { try LogStore(at: path).put("v", forKey: "k") }
    try writeFile("\(path)/notes.txt", bytes("precious"))
    try writeFile("\(path)/00000000000000ff.segment", bytes("not a segment of this store"))
    for _ in 0..<2 {
      let store = try LogStore(at: path)
      #expect(try store.get("k") == bytes("v"))
      try store.put("v", forKey: "k")
      try store.close()
    }
    #expect(try OSFileSystem().open("\(path)/notes.txt", .read).allBytes() == bytes("precious"))
    #expect(try OSFileSystem().status("\(path)/00000000000000ff.segment") != nil)
  }

  @Test func anEmptyDirectoryBecomesAStore() throws {
    try OSFileSystem().createDirectory(path)
    try LogStore(at: path + "/").put("v", forKey: "k")
    #expect(try LogStore(at: path).get("k") == bytes("v"))
  }

  @Test(arguments: [0, -1, 65_535, (1 << 30) + 1, .max])
  func anImpossibleSegmentSizeIsATypedErrorAndNothingIsCreated(_ size: Int) throws {
    var options = Options()
    options.segmentSize = size
    #expect {
      try LogStore(at: path, options: options)
    } throws: { error in
      guard case StoreError.failed(_, _, errno: EINVAL) = error else { return false }
      return true
    }
    #expect(try OSFileSystem().status(path) == nil)
  }

  @Test func optionsMayChangeFromOneOpeningToTheNext() throws {
    var options = Options()
    let sizes = [64 << 10, 1 << 20, 100_000, 256 << 10]
    for (size, policy) in zip(sizes, [Options.Verification.everyRead, .onceInMemory, .openingOnly, .onceInMemory]) {
      options.segmentSize = size
      options.verification = policy
      let store = try LogStore(at: path, options: options)
      for number in 0..<60 { try store.put([UInt8](repeating: 1, count: 5000), forKey: "\(size) \(number)") }
      #expect(try store.get("65536 3") == [UInt8](repeating: 1, count: 5000))
      try store.close()
    }
    #expect(try LogStore(at: path).count() == 240)
  }

  @Test func aReadOnlyDirectoryIsATypedError() throws {
    guard getuid() != 0 else {
      print("aReadOnlyDirectoryIsATypedError: skipped, permissions do not bind the superuser")
      return
    }
    do { try LogStore(at: path).put("v", forKey: "k") }
    chmod(path, 0o555)
    defer { chmod(path, 0o755) }
    let store = try? LogStore(at: path)
    if let store { _ = try? store.put("v", forKey: "k2") }
    chmod(path, 0o000)
    #expect {
      try LogStore(at: path)
    } throws: { error in
      guard case StoreError.accessDenied(_, errno: EACCES) = error else { return false }
      return true
    }
  }

  @Test func manifestsAndSegmentsThatAreDirectoriesAreTypedErrors() throws {
    do { try LogStore(at: path).put("v", forKey: "k") }
    for name in try OSFileSystem().list(path) {
      let saved = directory.appending("saved")
      try OSFileSystem().rename("\(path)/\(name)", to: saved)
      try OSFileSystem().createDirectory("\(path)/\(name)")
      do throws(StoreError) {
        let store = try LogStore(at: path)
        #expect(try store.get("k") == bytes("v"), "\(name)")
        try? store.close()
      } catch {
        #expect(!name.hasSuffix(".checkpoint"), "\(error)")
      }
      rmdir("\(path)/\(name)")
      try OSFileSystem().rename(saved, to: "\(path)/\(name)")
    }
    #expect(try LogStore(at: path).get("k") == bytes("v"))
  }

  @Test(arguments: [false, true])
  func anOpeningThatFailsLeavesNoFileOpen(isReadOnly: Bool) throws {
    let machine = Machine()
    do {
      let store = try machine.open { $0.merge.isAutomatic = false }
      for number in 0..<300 { try store.put([UInt8](repeating: 1, count: 1000), forKey: "key \(number)") }
      try store.close()
    }
    #expect(machine.disk.openFileCount == 0)
    // The last one: the others are open by the time it is missed.
    try machine.disk.remove(#require(try machine.files(".segment").last))
    #expect(throws: StoreError.self) { try machine.open { $0.readOnly = isReadOnly } }
    #expect(machine.disk.openFileCount == 0)
  }

  /// A look at a segment's file fails: each of those that an opening takes, in turn.
  @Test(arguments: [false, true])
  func anOpeningThatCannotLookAtAFileLeavesNoneOpen(isReadOnly: Bool) throws {
    let machine = Machine()
    do {
      let store = try machine.open()
      try store.put("value", forKey: "key")
      try store.close()
    }
    var nth = 0
    var hasFailed = true
    while hasFailed {
      nth += 1
      let plan = FaultPlan()
      plan.fail(.fileStatus, on: .suffix(".segment"), nth: nth, .error(PlatformError.inputOutput))
      var host = machine.host
      host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan)
      do throws(StoreError) {
        try LogStore(at: machine.path, options: machine.options { $0.readOnly = isReadOnly }, host: host).close()
        hasFailed = false
      } catch {
        #expect(machine.disk.openFileCount == 0, "look \(nth): \(error)")
      }
    }
    #expect(nth > 2)
  }

  @Test func closingGivesBackASegmentThatWasNotUsed() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.put("value", forKey: "key")
    try store.probe.endTail()
    #expect(store.probe.segments.last?.id == 2)
    let isHeld = store.probe.watch(2)
    #expect(isHeld())
    try store.close()
    #expect(!isHeld())
  }
}
