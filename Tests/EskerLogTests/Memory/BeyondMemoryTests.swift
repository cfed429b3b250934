import EskerPlatform
import EskerTestSupport
import Foundation
import Synchronization
import Testing

@testable import EskerLog

/// A store that is larger than the memory there is for files: on a real disk, since only that has pages that can go.
@Suite struct BeyondMemoryTests {
  private let directory: TemporaryDirectory
  private let room = Room()
  private static let count = 20_000

  init() throws { directory = try TemporaryDirectory() }

  /// How much memory there is for files.
  private final class Room: Sendable {
    private let bytes = Mutex<Int?>(nil)

    func set(_ value: Int?) { bytes.withLock { $0 = value } }
    func get() -> Int? { bytes.withLock { $0 } }
  }

  private func open(
    _ name: String = "store",
    clock: FakeClock? = nil,
    _ change: (inout Options) -> Void = { _ in }
  ) throws -> LogStore {
    var platform = Platform.system
    platform.pageCacheRoom = { [room] in room.get() }
    if let clock { platform.clock = clock }
    var options = Options()
    options.segmentSize = 1 << 20
    change(&options)
    return try LogStore(
      at: directory.appending(name),
      options: options,
      host: StoreHost(platform: platform, background: .threads)
    )
  }

  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 300)
  }

  /// A store of six megabytes, closed.
  private func fill() throws {
    let store = try open()
    for number in 0..<Self.count { try store.put(Self.value(number), forKey: "key \(number)") }
    try store.sync()
    try store.close()
  }

  /// Makes the pages of all files go; false where the file system keeps them.
  private func forgetPages() throws -> Bool {
    #if os(Linux)
      let path = directory.appending("store")
      for name in try OSFileSystem().list(path) {
        let descriptor = Glibc.open("\(path)/\(name)", O_RDONLY)
        guard descriptor >= 0 else { return false }
        fsync(descriptor)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        Glibc.close(descriptor)
      }
      return true
    #else
      return false
    #endif
  }

  @Test func itIsKnownWhatFits() throws {
    try fill()
    room.set(1 << 30)
    var store = try open()
    #expect(!store.probe.isBeyondMemory)
    room.set(4 << 20)
    store.probe.reviewPages()
    #expect(store.probe.isBeyondMemory)
    // Just enough is not enough any more.
    room.set(store.probe.engine.catalog.segments.reduce(1 << 20) { $0 + $1.mapping.length })
    store.probe.reviewPages()
    room.set(nil)
    store.probe.reviewPages()
    #expect(store.probe.isBeyondMemory, "who knows nothing leaves it as it is")
    room.set(1 << 30)
    store.probe.reviewPages()
    #expect(!store.probe.isBeyondMemory)
    try store.close()
    room.set(nil)
    store = try open()
    #expect(!store.probe.isBeyondMemory)
    room.set(0)
    for number in 0..<8_000 { try store.put(Self.value(number), forKey: "other \(number)") }
    try store.sync()
    #expect(eventually { store.probe.isBeyondMemory }, "segments that were sealed have it looked at")
  }

  #if os(Linux)
    /// The kernel shows the advice as a flag of the mapping.
    @Test func theKernelIsToldOfEveryMapping() throws {
      try fill()
      func flags() throws -> [Bool] {
        var flags: [Bool] = []
        var isOurs = false
        // Its length is 0 until it is read.
        let smaps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/smaps")).readToEnd() ?? Data()
        for line in String(decoding: smaps, as: UTF8.self).split(separator: "\n") {
          // A mapping begins with its addresses.
          if line.prefix(while: { $0 != " " }).contains("-") {
            isOurs = line.contains(directory.path) && line.hasSuffix(".segment")
          }
          if line.hasPrefix("VmFlags:"), isOurs { flags.append(line.split(separator: " ").contains("rr")) }
        }
        return flags
      }
      let store = try open()
      #expect(try flags().count >= 6 && !flags().contains(true))
      room.set(0)
      store.probe.reviewPages()
      #expect(try !flags().isEmpty && !flags().contains(false))
      // New segments, grown parts of the tail, and what a merge writes.
      for number in 0..<8_000 { try store.put(Self.value(number), forKey: "key \(number)") }
      try store.merge()
      #expect(try !flags().isEmpty && !flags().contains(false))
      room.set(1 << 30)
      store.probe.reviewPages()
      #expect(try !flags().isEmpty && !flags().contains(true))
    }
  #endif

  @Test(arguments: [Options.Compression.off, .lz4]) func everythingWorksWithoutMemory(
    _ compression: Options.Compression
  ) async throws {
    try fill()
    room.set(0)
    let store = try open { $0.compression = compression }
    try store.merge()
    #expect(store.probe.isBeyondMemory)
    var model = Dictionary(uniqueKeysWithValues: (0..<Self.count).map { ("key \($0)", Self.value($0)) })
    for number in stride(from: 0, to: Self.count, by: 7) {
      try store.put("\(number)", forKey: "key \(number)")
      model["key \(number)"] = Array("\(number)".utf8)
    }
    for number in stride(from: 3, to: Self.count, by: 11) {
      #expect(try store.remove("key \(number)"))
      model["key \(number)"] = nil
    }
    let isForgotten = try forgetPages()
    let keys = (0..<Self.count + 10).map { "key \($0)" }
    #expect(try store.get(keys) == keys.map { model[$0] })
    if isForgotten { _ = try forgetPages() }
    let values = try await withThrowingTaskGroup(of: [(Int, [UInt8]?)].self) { group in
      for task in 0..<64 {
        group.addTask {
          var values: [(Int, [UInt8]?)] = []
          for number in stride(from: task, to: keys.count, by: 64) {
            values.append((number, try await store.async.get(keys[number])))
          }
          return values
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(values.count == keys.count)
    #expect(values.allSatisfy { $0.1 == model[keys[$0.0]] })
    _ = try forgetPages()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          for number in stride(from: task, to: 4_000, by: 16) {
            let key = "key \(number)"
            switch number % 4 {
            case 0: try await store.async.put("put", forKey: key)
            case 1: try await store.async.remove(key)
            case 2: try await store.async.update(forKey: key) { $0 == nil ? .keep : .put(Array("updated".utf8)) }
            default:
              try await store.async.write { (batch) throws(StoreError) in
                try batch.put("first", forKey: key)
                try batch.put("last", forKey: key)
                try batch.remove("no such \(key)")
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for number in 0..<4_000 {
      let key = "key \(number)"
      switch number % 4 {
      case 0: model[key] = Array("put".utf8)
      case 1: model[key] = nil
      case 2: if model[key] != nil { model[key] = Array("updated".utf8) }
      default: model[key] = Array("last".utf8)
      }
    }
    #expect(try store.get(keys) == keys.map { model[$0] })
    #expect(try store.verify().isClean)
    #expect(try store.snapshot().reduce(0) { count, _ in count + 1 } == model.count)
    try store.merge()
    #expect(try store.get(keys) == keys.map { model[$0] })
  }

  @Test func aTaskLeavesToAThreadWhatIsNotInMemory() async throws {
    try fill()
    for isBeyond in [true, false] {
      room.set(isBeyond ? 0 : 1 << 30)
      guard try forgetPages() else { return }
      let store = try open()
      let key = "key 4711"
      let isMissing = store.probe.residentBytes < 1 << 20
      let waited = store.probe.mustWait(for: key)
      // Where the file system kept its pages, nothing has to wait.
      if isMissing { #expect(waited) }
      #expect(try await store.async.get(key) == Self.value(4711))
      #expect(!store.probe.mustWait(for: key), "it was read")
      try store.close()
    }
  }

  @Test func aStoreInMemoryIsAskedNoMore() throws {
    try fill()
    // No call is slow because the machine has other things to do.
    let store = try open(clock: FakeClock())
    for number in 0..<1_500 {
      _ = try store.get("key \(number)")
      #expect(!store.probe.mustWait(for: "key \(number)"))
    }
    #expect(!store.probe.engine.env.pages.mayWait)
    // A call as slow as a device has it look again.
    _ = store.probe.engine.env.pages.isDue(afterCallOf: 20_000, endedAt: 1)
    #expect(store.probe.engine.env.pages.mayWait)
  }

  @Test func aCancelledTaskDoesNotWait() async throws {
    try fill()
    room.set(0)
    guard try forgetPages() else { return }
    let store = try open()
    guard store.probe.mustWait(for: "key 17") else { return }
    guard try forgetPages() else { return }
    let outcome = await Task { () async -> Result<[UInt8]?, any Error> in
      withUnsafeCurrentTask { $0?.cancel() }
      do { return .success(try await store.async.get("key 9999")) } catch { return .failure(error) }
    }.value
    switch outcome {
    case .success(let value): #expect(value == Self.value(9999), "it was in memory after all")
    case .failure(let error): #expect(error as? StoreError == .cancelled)
    }
  }

  #if os(Linux)
    /// The page faults of this thread that waited for a device.
    private var faults: Int {
      var usage = rusage()
      getrusage(__rusage_who_t(1), &usage)
      return usage.ru_majflt
    }

    @Test(arguments: [Options.Compression.off, .lz4]) func aLargeValueIsAskedForAsAWhole(
      _ compression: Options.Compression
    ) throws {
      var generator = SeededGenerator(seed: 1)
      let value = (0..<(256 << 10)).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let writer = try open { $0.compression = compression }
      for number in 0..<8 { try writer.put(value, forKey: "large \(number)") }
      try writer.merge()
      try writer.close()
      room.set(0)
      guard try forgetPages() else { return }
      let store = try open()
      guard store.probe.residentBytes < 256 << 10 else { return }
      let before = faults
      #expect(try store.get("large 3") == value)
      #expect(try store.get(["large 5", "large 6"]) == [value, value])
      #expect(try store.withValue(forKey: "large 7") { $0.byteCount } == value.count)
      // Each has 65 pages.
      #expect(faults - before < 40)
      guard try forgetPages() else { return }
      let again = faults
      #expect(try store.snapshot().allSatisfy { try $0.value() == value })
      #expect(faults - again < 40, "a walk")
    }

    /// What a scan reads does not stay, where it was not there before.
    @Test func aScanLeavesMemoryAsItWas() throws {
      try fill()
      room.set(0)
      _ = try forgetPages()
      let store = try open()
      let before = store.probe.residentBytes
      guard before < 2 << 20 else { return }
      #expect(try store.verify().isClean)
      #expect(store.probe.residentBytes < before + (2 << 20), "after a verification")
      #expect(try store.snapshot().reduce(0) { count, _ in count + 1 } == Self.count)
      #expect(store.probe.residentBytes < before + (2 << 20), "after a walk")
      for number in 0..<Self.count { _ = try store.get("key \(number)") }
      let warm = store.probe.residentBytes
      guard warm > 5 << 20 else { return }
      #expect(try store.verify().isClean)
      #expect(store.probe.residentBytes > warm - (1 << 20), "what look-ups use stays")
    }

    /// Records that look-ups use, far apart.
    private let popular = stride(from: 0, to: count, by: 100).map { "key \($0)" }

    /// A store of which nothing is in memory but what was just looked up; nil where the file system keeps its pages.
    private func openWithPopularKeys(_ change: (inout Options) -> Void = { _ in }) throws -> LogStore? {
      room.set(0)
      guard try forgetPages() else { return nil }
      let store = try open("store", change)
      guard store.probe.residentBytes < 1 << 20 else { return nil }
      for key in popular { _ = try store.get(key) }
      return store
    }

    @Test func aScanTakesNothingFromLookUps() throws {
      try fill()
      guard let store = try openWithPopularKeys() else { return }
      let before = store.probe.residentBytes
      #expect(try store.verify().isClean)
      #expect(!popular.contains { store.probe.mustWait(for: $0) })
      #expect(store.probe.residentBytes < before + (1 << 20))
    }

    @Test func aMergeTakesNothingFromLookUps() throws {
      try fill()
      guard let store = try openWithPopularKeys() else { return }
      let before = store.probe.residentBytes
      let report = try store.merge(segments: store.probe.listed.map(\.id))
      #expect(report.bytesWritten > 5 << 20)
      #expect(!popular.contains { store.probe.mustWait(for: $0) }, "what look-ups use stays")
      #expect(store.probe.residentBytes < before + (1 << 20), "and nothing else")
      #expect(try store.get(popular) == (0..<Self.count / 100).map { Self.value($0 * 100) })
    }

    @Test func aPackedSegmentThatNobodyReadsIsNotInMemory() throws {
      try fill()
      room.set(0)
      guard try forgetPages() else { return }
      let store = try open { $0.compression = .lz4 }
      guard store.probe.residentBytes < 1 << 20 else { return }
      let report = try store.merge(segments: store.probe.listed.map(\.id))
      #expect(report.bytesRead > 5 << 20)
      #expect(store.probe.residentBytes < 256 << 10)
    }

    @Test func aBackupTakesNothingFromLookUps() throws {
      try fill()
      guard let store = try openWithPopularKeys() else { return }
      let before = store.probe.residentBytes
      #expect(try store.backup(to: directory.appending("backup"), copying: true).copiedBytes > 6 << 20)
      #expect(!popular.contains { store.probe.mustWait(for: $0) })
      #expect(store.probe.residentBytes < before + (1 << 20))
      let copy = try open("backup") { $0.readOnly = true }
      #expect(copy.probe.residentBytes < 1 << 20, "nobody reads it here")
    }
  #endif
}
