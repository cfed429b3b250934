import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// Salvage of stores that remember a capacity, or to sync each write.
@Suite struct SalvagedCacheTests {
  private static let capacity = 1 << 20

  private func options(_ machine: Machine, _ change: (inout Options) -> Void = { _ in }) -> Options {
    var options = Options()
    options.clock = Options.Clock(machine.clock)
    change(&options)
    return options
  }

  private func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(number & 255), count: 900) + bytes("\(number)")
  }

  /// The numbers of the keys that a store has, with their values.
  private func numbers(in store: LogStore, of count: Int) throws -> [Int] {
    try (0..<count).filter { number in
      guard let found = try store.get("key \(number)") else { return false }
      #expect(found == value(number))
      return true
    }
  }

  /// Everything comes out of a store that takes far more when it is not packed, and nothing is synced one by one.
  @Test func whatWasPackedComesOutWhole() throws {
    let count = 3_000
    let machine = Machine()
    var store = try LogStore(
      at: machine.path,
      options: options(machine) { $0.compression = .lz4 },
      host: machine.host
    )
    for number in 0..<count { try store.put(value(number), forKey: "key \(number)") }
    try store.probe.endTail()
    try store.sync()
    try store.merge(segments: store.statistics.segments.map(\.id))
    try store.close()
    let remembering = options(machine) {
      $0.capacity = Self.capacity
      $0.durability = .synced
    }
    store = try LogStore(at: machine.path, options: remembering, host: machine.host)
    #expect(try store.count() == count)
    let settings = store.statistics.settings
    try store.close()

    let plan = FaultPlan()
    let disk = FaultyFileSystem(machine.disk, plan: plan)
    let host = StoreHost(platform: Platform.simulated(fileSystem: disk, clock: machine.clock), background: .inline)
    let report = try LogStore.salvage(from: machine.path, to: "/saved", options: options(machine), host: host)
    #expect(report.entries == count && report.isComplete)
    // As many segments are sealed as the capacity calls for, and merged again.
    #expect(plan.callCount(of: .sync) < count / 4)
    #expect(report.bytesOverCapacity > Self.capacity && report.bytesOverCapacity < 4 * Self.capacity)

    // To keep everything is possible.
    let reader = try LogStore(at: "/saved", options: options(machine) { $0.readOnly = true }, host: machine.host)
    #expect(reader.statistics.settings == settings)
    #expect(try numbers(in: reader, of: count).count == report.entries)
    #expect(try reader.verify().isClean)
    try reader.close()
    // The next opening for writing evicts what is too much, and no more: the oldest.
    let saved = try LogStore(at: "/saved", options: options(machine), host: machine.host)
    try saved.put("v", forKey: "k")
    let left = try numbers(in: saved, of: count)
    #expect(saved.statistics.settings == settings)
    #expect(left.count > 600 && left.count < 1_200)
    #expect(left == Array(count - left.count..<count))
  }

  /// A cache as full as its capacity allows keeps nearly all of it behind its next opening, too.
  @Test func aFullCacheComesOutWholeAndStaysSo() throws {
    let count = 2_000
    let machine = Machine()
    let store = try LogStore(
      at: machine.path,
      options: options(machine) { $0.capacity = Self.capacity },
      host: machine.host
    )
    for number in 0..<count { try store.put(value(number), forKey: "key \(number)") }
    let before = try numbers(in: store, of: count)
    #expect(before.count < 1_200)
    try store.close()
    let report = try LogStore.salvage(
      from: machine.path,
      to: "/saved",
      options: options(machine),
      host: machine.host
    )
    #expect(report.entries == before.count && report.bytesOverCapacity == 0)
    let saved = try LogStore(at: "/saved", options: options(machine), host: machine.host)
    for number in 0..<300 { try saved.put(value(number), forKey: "new \(number)") }
    let after = try numbers(in: saved, of: count)
    // Segments are as small as the capacity calls for: little is evicted at once, and no tail outgrows the capacity.
    #expect(after.count > before.count - 400)
    let sizes = try machine.disk.list("/saved").map { try machine.disk.status("/saved/\($0)")?.size ?? 0 }
    #expect(sizes.reduce(0, +) <= Self.capacity)
    #expect(after == Array(before.suffix(after.count)))
  }

  @Test func aCapacityOfTheCallersIsRecordedTooOrRefused() throws {
    let machine = Machine()
    let store = try machine.open()
    for number in 0..<1_000 { try store.put(value(number), forKey: "key \(number)") }
    try store.close()
    let least = options(machine) { $0.capacity = 256 << 10 }
    let report = try LogStore.salvage(from: machine.path, to: "/saved", options: least, host: machine.host)
    #expect(report.entries == 1_000 && report.bytesOverCapacity > 512 << 10)
    let reader = try LogStore(at: "/saved", options: options(machine) { $0.readOnly = true }, host: machine.host)
    #expect(reader.statistics.settings.capacity == 256 << 10)
    #expect(try reader.count() == 1_000)
    let tooSmall = options(machine) { $0.capacity = 1 }
    #expect(throws: StoreError.self) {
      try LogStore.salvage(from: machine.path, to: "/other", options: tooSmall, host: machine.host)
    }
    #expect(try machine.disk.status("/other") == nil)
  }

  @Test func aKeyspaceWhoseRemovalIsOnlyLoggedIsNotCreated() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.keyspace("gone").put("v", forKey: "k", durability: .synced)
    try store.keyspace("kept").put("v", forKey: "k")
    try store.removeKeyspace("gone")
    store.probe.kill()
    let report = try LogStore.salvage(
      from: machine.path,
      to: "/saved",
      options: machine.options(),
      host: machine.host
    )
    #expect(report.entries == 1)
    let saved = try LogStore(at: "/saved", options: machine.options(), host: machine.host)
    #expect(try saved.keyspaceNames == ["kept"])
  }
}
