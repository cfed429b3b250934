import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What a call says whose effect is an edit of the manifest, when a platform call in it fails, against what is there after the
/// next opening.
@Suite struct FailedEditTests {
  enum ManifestEdit: String, CaseIterable {
    case keyspace, forms, setDefaultExpiry, resetClock

    static let recorded = KeyspaceForms(keys: "int64", values: "cbor")

    /// - Parameter number: of the edit, so that no two are the same and the manifest grows.
    func perform(_ number: Int, on store: LogStore, _ clock: FakeClock) throws(StoreError) {
      switch self {
      case .keyspace: _ = try store.keyspace("\(number)" + String(repeating: "k", count: 200))
      case .forms: _ = try store.keyspace("short \(number)", recording: Self.recorded)
      case .setDefaultExpiry: try store.keyspace("short").setDefaultExpiry(.seconds(number + 1))
      case .resetClock:
        clock.setWall(milliseconds: clock.wallMilliseconds() - 1_000_000)
        try store.resetClock()
      }
    }
  }

  private struct State: Equatable {
    var names: Set<String>
    var formed: Set<String>
    var expiry: Duration?
    var time: WallTime

    init(_ store: LogStore) throws(StoreError) {
      let names = try Set(store.keyspaceNames)
      self.names = names
      formed = Set(names.filter { store.engine.keydir.keyspaces[$0]?.forms == ManifestEdit.recorded })
      expiry = try store.keyspace("short").defaultExpiry
      time = store.time
    }
  }

  /// Edits until the `nth` call fails; whether it did, and how many calls there were.
  private func run(_ edit: ManifestEdit, code: Int32, at nth: Int) throws -> (calls: Int, thrown: StoreError?) {
    let bench = FaultBench()
    bench.clock.setWall(milliseconds: 100_000_000)
    let store = try bench.open()
    _ = try store.keyspaces(["short", "short 0", "short 1", "short 2"])
    // Of a write that fails on the device, all may be there; one that finds the volume full writes nothing.
    let isFull = code == PlatformError.noSpace
    bench.plan.fail(nil, nth: nth, isFull ? .error(code) : .partial(bytes: 1 << 20, code: code))
    let start = bench.plan.callCount
    var before = try State(store)
    var after = before
    var thrown: StoreError?
    for number in 0..<(edit == .keyspace ? 40 : 3) {
      before = try State(store)
      do throws(StoreError) { try edit.perform(number, on: store, bench.clock) } catch {
        thrown = error
        #expect(try State(store) == before, "call \(nth): \(error)")
        after = before
        switch edit {
        case .keyspace: after.names.insert("\(number)" + String(repeating: "k", count: 200))
        case .forms: after.formed.insert("short \(number)")
        case .setDefaultExpiry: after.expiry = .seconds(number + 1)
        case .resetClock: after.time = WallTime(millisecondsSince1970: bench.clock.wallMilliseconds())
        }
        break
      }
    }
    let calls = bench.plan.callCount - start
    if thrown == nil {
      before = try State(store)
      after = before
    }
    store.probe.kill()
    // Store time never goes back, so the wall clock must not hide what was kept.
    bench.clock.setWall(milliseconds: 0)
    let disk = bench.disk
    for isKill in [true, false] {
      bench.disk = disk
      if isKill { try bench.killProcess() } else { try bench.cutPower(.drop) }
      let reopened = try bench.open(seed: 2)
      let found = try State(reopened)
      reopened.probe.kill()
      switch thrown {
      case .outcomeUnknown: #expect(found == before || found == after, "call \(nth)")
      default: #expect(found == before, "call \(nth): \(thrown.map { "\($0)" } ?? "nothing"), killed: \(isKill)")
      }
    }
    return (calls, thrown)
  }

  @Test(arguments: ManifestEdit.allCases, [PlatformError.inputOutput, PlatformError.noSpace])
  func anEditThatThrowsSaysWhatBecameOfIt(_ edit: ManifestEdit, _ code: Int32) throws {
    let calls = try run(edit, code: code, at: .max).calls
    var (unknown, refused) = (0, 0)
    for nth in 1...calls {
      switch try run(edit, code: code, at: nth).thrown {
      case .outcomeUnknown(let found):
        #expect(found == code)
        unknown += 1
      case nil: Issue.record("call \(nth) does not matter")
      default: refused += 1
      }
    }
    print("FailedEdit: \(edit), error \(code) at each of \(calls) calls: \(unknown) unknown, \(refused) refused")
    #expect(unknown >= 4)
    #expect(edit != .keyspace || refused > 0)
  }

  /// Of copies that differ, the newer one may not be on the device: the other stays as it is until the next manifest is durable.
  @Test(arguments: [0, 1], [0, 1]) func theCopyThatMayNotBeDurableIsWrittenFirst(newer: Int, further: Int) throws {
    let bench = FaultBench()
    try bench.open().close()
    let paths = FileName.manifests.map { "\(bench.path)/\($0)" }
    let copy = try bench.disk.open(paths[newer], .readWrite)
    let bytes = try copy.allBytes()
    var manifest = try Manifest(decoding: ContiguousArray(bytes).span.bytes)
    manifest.generation += 1
    try copy.writeAll(manifest.encoded(), at: 0)
    let files = ManifestFiles(directory: bench.path, fileSystem: FaultyFileSystem(bench.disk, plan: bench.plan))
    defer { files.close() }
    #expect(try files.read().newest?.generation == manifest.generation)
    let written = Guarded<[String]>([])
    bench.plan.onCall { call in
      if call.operation == .write { written.withLock { $0.append(call.path) } }
    }
    // Of either parity, as copies that are the same take turns.
    manifest.generation += 1 + UInt64(further)
    _ = try files.write(manifest, nil)
    #expect(written.withLock { $0 } == [paths[newer], paths[1 - newer]])
  }
}
