import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Files that the system refuses for some time, as those of an app on a device that is locked: no damage, and nothing is given up.
@Suite struct RefusedFileTests {
  private typealias Contents = [[UInt8]: [UInt8]]

  /// A store with files of each kind, closed or left by a killed process.
  private func filled(isKilled: Bool) throws -> (bench: FaultBench, contents: Contents) {
    let bench = FaultBench()
    var store = try bench.open { $0.compression = .lz4 }
    func fill(_ name: String, _ count: Int, _ keys: Int) throws {
      for number in 0..<count {
        try store.put([UInt8](repeating: UInt8(number), count: 1_000), forKey: "\(name) \(number % keys)")
      }
    }
    try fill("key", 150, 90)
    try store.merge()
    try fill("late", 100, 80)
    // Without one, all is read, and footers.
    if !isKilled { store.probe.writeCheckpoint() }
    try store.put("behind", forKey: "the checkpoint", durability: .synced)
    let contents = try store.contents()
    if isKilled { store.probe.kill() } else { try store.close() }
    try bench.killProcess()
    // Nothing of it was ever wrong.
    let disk = try bench.disk.processKilled()
    store = try bench.open(seed: 2)
    #expect(try store.contents() == contents && bench.damage.isEmpty)
    store.probe.kill()
    bench.disk = disk
    bench.forgetEvents()
    return (bench, contents)
  }

  /// The files, without what is only said to other processes.
  private func files(_ bench: FaultBench) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try bench.names where name != LockFile.name { files[name] = try bench.bytes(name) }
    return files
  }

  private func expectWhole(_ bench: FaultBench, _ contents: Contents, _ moment: String, readOnly: Bool = false) throws {
    let store = try bench.open(seed: 2) { $0.readOnly = readOnly }
    #expect(bench.damage.isEmpty, "\(moment): \(bench.damage)")
    #expect(try store.contents() == contents, "\(moment)")
    #expect(try store.verify().isClean, "\(moment)")
    if readOnly { try store.close() } else { store.probe.kill() }
  }

  @Test(arguments: [false, true], [false, true])
  func anOpeningThatIsRefusedAFileChangesNothing(isKilled: Bool, readOnly: Bool) throws {
    let (bench, contents) = try filled(isKilled: isKilled)
    let disk = bench.disk
    var refused = 0
    for name in try bench.names {
      for code in [EPERM, EACCES] {
        bench.disk = try disk.processKilled()
        try bench.killProcess()
        bench.forgetEvents()
        let before = try files(bench)
        let path = "\(bench.path)/\(name)"
        for operation in FaultOperation.allCases where operation != .status {
          bench.plan.fail(operation, on: FileMatch { $0 == path }, sticky: true, .error(code))
        }
        let failure = opening(bench, readOnly: readOnly)
        // What an opening does not need may be refused.
        if name != FileName.reserve {
          #expect(failure == .accessDenied(path: path, errno: code), "\(name): \(String(describing: failure))")
        }
        refused += failure == nil ? 0 : 1
        #expect(bench.damage.isEmpty, "\(name): \(bench.damage)")
        #expect(try files(bench) == before, "\(name)")
        bench.plan.heal()
        try expectWhole(bench, contents, name, readOnly: readOnly)
      }
    }
    #expect(refused >= 10)
  }

  /// One call is refused, whichever: the opening says so, or did not need it.
  @Test(arguments: [false, true], [false, true])
  func anOpeningThatIsRefusedACallIsNotMisled(isKilled: Bool, readOnly: Bool) throws {
    let (bench, contents) = try filled(isKilled: isKilled)
    let disk = bench.disk
    var (nth, refused) = (0, 0)
    while true {
      nth += 1
      bench.disk = try disk.processKilled()
      try bench.killProcess()
      bench.forgetEvents()
      let call = Guarded<FaultCall?>(nil)
      bench.plan.onCall { [nth] made in if made.index == nth { call.withLock { $0 = made } } }
      bench.plan.fail(nil, nth: nth, .error(EPERM))
      let failure = opening(bench, readOnly: readOnly)
      bench.plan.onCall(nil)
      bench.plan.heal()
      if let failure {
        refused += 1
        if case .accessDenied = failure {} else { Issue.record("call \(nth): \(failure)") }
      }
      guard let call = call.withLock({ $0 }) else { break }
      #expect(bench.damage.isEmpty, "\(call): \(bench.damage)")
      try expectWhole(bench, contents, "\(call)", readOnly: readOnly)
    }
    #expect(nth > 20 && refused > 10, "\(refused) of \(nth)")
  }

  /// The pages of a segment read as zeros while it is refused: what an opening would make of these is neither cut off nor damage.
  @Test(arguments: [false, true]) func anOpeningThatIsRefusedPagesChangesNothing(readOnly: Bool) throws {
    let bench = FaultBench()
    let store = try bench.open { $0.merge.isAutomatic = false }
    for number in 0..<100 { try store.put([UInt8](repeating: 7, count: 1_000), forKey: "key \(number)") }
    try store.sync()
    let contents = try store.contents()
    store.probe.kill()
    try bench.killProcess()
    let names = try bench.names.filter { $0.hasSuffix(".segment") }
    let (first, second) = (try #require(names.first), try #require(names.dropFirst().first))
    let path = "\(bench.path)/\(first)"
    let before = try files(bench)
    let file = try bench.disk.open(path, .readWrite)
    defer { file.close() }
    let whole = try file.allBytes()
    bench.plan.onCall { [plan = bench.plan, path = "\(bench.path)/\(second)"] call in
      // The first one is mapped by then.
      guard call.operation == .open, call.path == path else { return }
      try? file.truncate(4_096)
      plan.fail(.read, on: .suffix(first), sticky: true, .error(EPERM))
    }
    #expect(opening(bench, readOnly: readOnly) == .accessDenied(path: path, errno: EPERM))
    #expect(bench.damage.isEmpty, "\(bench.damage)")
    bench.plan.onCall(nil)
    bench.plan.heal()
    try file.truncate(0)
    try file.writeAll(whole, at: 0)
    #expect(try files(bench) == before)
    try expectWhole(bench, contents, "unlocked", readOnly: readOnly)
  }

  @Test func aStoreWhoseNewSegmentIsRefusedGoesOnOnceItMayHaveOne() throws {
    let bench = FaultBench()
    let store = try bench.open { $0.merge.isAutomatic = false }
    let value = [UInt8](repeating: 7, count: 2_000)
    var written = 0
    for _ in 0..<20 {
      try store.put(value, forKey: "key \(written)")
      written += 1
    }
    bench.plan.fail(.create, sticky: true, .error(EPERM))
    var failure: StoreError?
    for _ in 0..<100 where failure == nil {
      failure = putting(value, "key \(written)", store)
      if failure == nil { written += 1 }
    }
    guard case .accessDenied(let path, EPERM) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(path.hasSuffix(".segment"))
    // What has room where it is goes on: reads, and small writes, do.
    #expect(try store.count() == written)
    #expect(try store.get("key 0") == value)
    for _ in 0..<3 {
      // The segment's id is another each time.
      guard case .accessDenied(_, EPERM) = putting(value, "refused", store) else {
        Issue.record("a write is not refused")
        return
      }
    }
    try store.sync()
    bench.plan.heal()
    for _ in 0..<60 {
      try store.put(value, forKey: "key \(written)", durability: .synced)
      written += 1
    }
    #expect(try store.count() == written)
    #expect(bench.damage.isEmpty)
    try store.close()
    let again = try bench.open(seed: 2)
    #expect(try again.count() == written)
    #expect(try again.verify().isClean)
    #expect(again.history.openings.last?.kind == .clean)
    try again.close()
  }

  private func putting(_ value: [UInt8], _ key: String, _ store: LogStore) -> StoreError? {
    do throws(StoreError) { try store.put(value, forKey: key) } catch { return error }
    return nil
  }

  /// Opens the store and leaves it; what the opening threw.
  private func opening(_ bench: FaultBench, readOnly: Bool) -> StoreError? {
    do throws(StoreError) {
      let store = try bench.open(seed: 2) { $0.readOnly = readOnly }
      store.probe.kill()
    } catch { return error }
    return nil
  }

  /// The pages of a file that is refused read as zeros, which a file that lacks its end does too: who asks the system can tell.
  @Test func aReadThatIsRefusedIsNoDamage() throws {
    let bench = FaultBench()
    var store = try bench.open()
    let value = [UInt8](repeating: 7, count: 3_000)
    for number in 0..<40 { try store.put(value, forKey: "key \(number)") }
    try store.close()
    store = try bench.open(seed: 2)
    let name = try #require(try bench.names.first { $0.hasSuffix(".segment") })
    let path = "\(bench.path)/\(name)"
    let file = try bench.disk.open(path, .readWrite)
    defer { file.close() }
    let whole = try file.allBytes()
    try file.truncate(8_192)
    bench.plan.fail(.read, on: FileMatch { $0 == path }, sticky: true, .error(EPERM))
    let refusal = StoreError.accessDenied(path: path, errno: EPERM)
    #expect(throws: refusal) { try store.get("key 10") }
    #expect(throws: refusal) { try store.get(["key 10", "key 11"].map { Array($0.utf8) }) }
    #expect(throws: refusal) { try store.verify() }
    #expect(throws: refusal) { try store.backup(to: "/backup") }
    #expect(throws: refusal) { for entry in try store.snapshot() { _ = try entry.value() } }
    #expect(bench.damage.isEmpty)
    // Once it is given back, all is there.
    bench.plan.heal()
    try file.truncate(0)
    try file.writeAll(whole, at: 0)
    for number in 0..<40 { #expect(try store.get("key \(number)") == value, "\(number)") }
    #expect(try store.verify().isClean)
    try store.close()
  }

  @Test func aVerificationThatIsRefusedAFileFindsNoDamage() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try store.put("v", forKey: "k")
    for name in try bench.names where name.hasSuffix(".segment") || FileName.manifests.contains(name) {
      let path = "\(bench.path)/\(name)"
      bench.plan.fail(.read, on: FileMatch { $0 == path }, sticky: true, .error(EPERM))
      #expect(throws: StoreError.accessDenied(path: path, errno: EPERM), "\(name)") { try store.verify() }
      bench.plan.heal()
      #expect(try store.verify().isClean)
    }
    try store.close()
  }

  /// A salvage does not take for lost what it may not read.
  @Test func aSalvageThatIsRefusedAFileMakesNothing() throws {
    let (bench, contents) = try filled(isKilled: false)
    for name in try bench.names where name.hasSuffix(".segment") || FileName.manifests.contains(name) {
      let path = "\(bench.path)/\(name)"
      bench.plan.fail(.open, on: FileMatch { $0 == path }, sticky: true, .error(EPERM))
      let platform = Platform.simulated(fileSystem: FaultyFileSystem(bench.disk, plan: bench.plan), clock: bench.clock)
      let host = StoreHost(platform: platform, background: .inline)
      #expect(throws: StoreError.accessDenied(path: path, errno: EPERM)) {
        try LogStore.salvage(from: bench.path, to: "/new", options: Options(), host: host)
      }
      #expect(try bench.disk.status("/new") == nil)
      bench.plan.heal()
    }
    try expectWhole(bench, contents, "after all")
  }

  @Test func theErrorSaysWhatToDo() {
    for code in [EPERM, EACCES] {
      let error = StoreError(PlatformError("open", path: "/x", code: code))
      #expect(error == .accessDenied(path: "/x", errno: code))
      #expect("\(error)".contains("try again once it is unlocked"))
    }
    let other = StoreError(PlatformError("open", path: "/x", code: EIO))
    #expect(other == .failed(operation: "open", path: "/x", errno: EIO))
  }
}
