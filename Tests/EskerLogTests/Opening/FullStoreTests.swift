import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What can be done with a store whose capacity, or whose volume, is full, however its last writer ended.
@Suite struct FullStoreTests {
  enum Ending: CaseIterable {
    case failedSync, killed, clean
  }

  enum Action: CaseIterable {
    case read, open, remove, put, removeAll
  }

  private static let capacity = 256 << 10
  private static let value = [UInt8](repeating: 1, count: 3000)

  /// A store that has been written to the brim, and then its volume.
  private struct Full {
    var disk: SimulatedDisk
    let clock = FakeClock()
    let capacity: Int?
    var expected: [[UInt8]: [UInt8]] = [:]

    init(capacity: Int?, isVolumeFull: Bool, _ ending: Ending, valueLength: Int = 3000) throws {
      disk = SimulatedDisk(capacity: 4 << 20)
      self.capacity = capacity
      let plan = FaultPlan()
      let store = try open(on: FaultyFileSystem(disk, plan: plan))
      let count = (capacity == nil ? 600_000 : 2_000_000) / valueLength
      for number in 0..<count + 20 {
        if number == count { try store.sync() }
        let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: valueLength)
        try store.put(value, forKey: "key \(number)")
      }
      expected = try store.contents()
      switch ending {
      case .clean: try store.close()
      case .killed: disk = try disk.processKilled()
      case .failedSync:
        plan.fail(.sync, on: .suffix(".segment"), .failedSync(code: 5, marksPagesClean: true))
        #expect(throws: StoreError.syncFailed(errno: 5)) { try store.sync() }
        disk = try disk.processKilled()
      }
      store.probe.kill()
      if isVolumeFull {
        let ballast = try disk.open("/ballast", .create)
        try ballast.reserve(disk.freeSpace(at: "/") / 4096 * 4096)
        #expect(try disk.freeSpace(at: "/") == 0)
      }
    }

    func open(
      on fileSystem: (any FileSystem)? = nil,
      _ change: (inout Options) -> Void = { _ in }
    ) throws(StoreError) -> LogStore {
      var options = Options()
      options.segmentSize = 64 << 10
      options.capacity = capacity
      options.clock = .fake(clock)
      change(&options)
      let platform = Platform.simulated(fileSystem: fileSystem ?? disk, clock: clock)
      return try LogStore(at: "/store", options: options, host: StoreHost(platform: platform, background: .inline))
    }

    var bytesOnDisk: Int {
      get throws {
        try disk.list("/store").reduce(0) { total, name in total + (try disk.status("/store/\(name)")?.size ?? 0) }
      }
    }
  }

  @Test(arguments: [nil, FullStoreTests.capacity], Ending.allCases)
  func aStoreThatIsFull(capacity: Int?, ending: Ending) throws {
    for isVolumeFull in [false, true] {
      for action in Action.allCases {
        let full = try Full(capacity: capacity, isVolumeFull: isVolumeFull, ending)
        let moment = "volume full: \(isVolumeFull), \(action)"
        do {
          try perform(action, full, moment)
        } catch StoreError.noSpace(let path, _) {
          // Only where nothing may be given up, and never to open it or to remove what is there.
          #expect(capacity == nil && isVolumeFull && action == .put, "\(moment): \(path)")
        }
      }
    }
  }

  private func perform(_ action: Action, _ full: Full, _ moment: String) throws {
    let store = try full.open { $0.readOnly = action == .read }
    defer { store.probe.kill() }
    #expect(try store.contents() == full.expected, "\(moment)")
    // The newest: an older one may be evicted to make room for its removal.
    let last = try #require(full.expected.keys.max { ($0.count, "\($0)") < ($1.count, "\($1)") })
    switch action {
    case .read, .open: return
    case .remove:
      #expect(try store.remove(last), "\(moment)")
      #expect(try store.get(last) == nil, "\(moment)")
    case .removeAll:
      try store.removeAll()
      #expect(try store.count() == 0, "\(moment)")
    case .put:
      for number in 0..<40 { try store.put(Self.value, forKey: "more \(number)") }
      #expect(try store.get("more 39") == Self.value, "\(moment)")
    }
    try store.sync()
    if let capacity = full.capacity, action == .put { #expect(try full.bytesOnDisk <= capacity, "\(moment)") }
    let contents = try store.contents()
    // What was served is there after a power cut.
    var generator = SeededGenerator(seed: 1)
    var image = full
    image.disk = try full.disk.crashImage(.drop, using: &generator)
    let again = try image.open { $0.readOnly = true }
    #expect(try again.contents() == contents, "\(moment)")
    again.probe.kill()
  }

  @Test(arguments: [300, 3000, 10_000])
  func aRecoveryMayExceedTheCapacity(valueLength: Int) throws {
    for isVolumeFull in [false, true] {
      var full = try Full(
        capacity: Self.capacity,
        isVolumeFull: isVolumeFull,
        .failedSync,
        valueLength: valueLength
      )
      for round in 0..<3 {
        // Its writer is killed before it has written anything.
        let store = try full.open()
        #expect(try store.contents() == full.expected, "round \(round)")
        store.probe.kill()
        var generator = SeededGenerator(seed: UInt64(round))
        full.disk = try full.disk.crashImage(.drop, using: &generator)
      }
      let store = try full.open()
      #expect(try store.contents() == full.expected)
      for number in 0..<200 { try store.put(Self.value, forKey: "more \(number)") }
      #expect(try store.get("more 199") == Self.value)
      #expect(try full.bytesOnDisk <= Self.capacity)
      #expect(try store.verify().isClean)
      store.probe.kill()
    }
  }

  @Test func theErrorSaysWhatIsFull() throws {
    let large = [UInt8](repeating: 1, count: 200_000)
    let roomy = try Full(capacity: Self.capacity, isVolumeFull: false, .clean).open()
    #expect {
      try roomy.put(large, forKey: "large")
    } throws: { error in
      guard case StoreError.capacityReached(path: "/store", capacity: Self.capacity, let needed) = error else {
        return false
      }
      return needed >= large.count && "\(error)".contains("larger capacity")
    }
    #expect {
      try roomy.write { (batch) throws(StoreError) in try batch.put(large, forKey: "large") }
    } throws: { error in
      if case StoreError.capacityReached = error { true } else { false }
    }
    roomy.probe.kill()
    let volume = try Full(capacity: nil, isVolumeFull: true, .clean).open()
    #expect {
      try volume.put(large, forKey: "large")
    } throws: { error in
      guard case StoreError.noSpace = error else { return false }
      return "\(error)".contains("not enough space on the volume")
    }
    volume.probe.kill()
  }
}
