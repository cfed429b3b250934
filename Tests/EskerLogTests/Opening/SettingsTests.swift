import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// What a store remembers of its options, from one opening to the next.
@Suite struct SettingsTests {
  private static func change(_ options: inout Options) {
    options.durability = .periodic(.milliseconds(250))
    options.defaultExpiry = .after(.seconds(3_600))
    options.segmentSize = 128 << 10
    options.compression = .lz4(level: 9)
    options.capacity = 8 << 20
  }

  /// Settings that differ from the first ones in every field.
  private static func changeAgain(_ options: inout Options) {
    options.durability = .synced
    options.defaultExpiry = .never
    options.segmentSize = 1 << 20
    options.compression = .off
    options.capacity = .max
  }

  /// Options that say nothing.
  private static func saying(_ machine: Machine, readOnly: Bool = false) -> Options {
    var options = Options(readOnly: readOnly)
    options.clock = Options.Clock(machine.clock)
    return options
  }

  private func openSayingNothing(_ machine: Machine, readOnly: Bool = false) throws(StoreError) -> LogStore {
    try LogStore(at: machine.path, options: Self.saying(machine, readOnly: readOnly), host: machine.host)
  }

  private static func settings(_ change: (inout Options) -> Void) -> Options.Settings {
    var options = Options()
    change(&options)
    return Options.Settings().changed(by: options)
  }

  private static let first = settings(change)
  private static let second = settings(changeAgain)

  private func files(of machine: Machine) throws -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for name in try machine.disk.list(machine.path) where name != "LOCK" {
      let file = try machine.disk.open("\(machine.path)/\(name)", .read)
      defer { file.close() }
      result[name] = try file.allBytes()
    }
    return result
  }

  @Test func anOpeningThatSaysNothingFindsWhatAnotherHasChosen() throws {
    let machine = Machine()
    try machine.open(Self.change).close()
    var store = try openSayingNothing(machine)
    #expect(store.statistics.settings == Self.first)
    #expect(Self.first != Options.Settings())
    try store.close()
    store = try machine.open(Self.changeAgain)
    #expect(store.statistics.settings == Self.second)
    try store.close()
    #expect(try openSayingNothing(machine).statistics.settings == Self.second)
  }

  @Test func whatOneOpeningLeavesOutKeepsWhatItWas() throws {
    let machine = Machine()
    try machine.open(Self.change).close()
    let store = try LogStore(at: machine.path, options: Options(capacity: 9 << 20), host: machine.host)
    var expected = Self.first
    expected.capacity = 9 << 20
    #expect(store.statistics.settings == expected)
  }

  @Test func aNewStoreHasTheDefaults() throws {
    let machine = Machine()
    let store = try openSayingNothing(machine)
    #expect(store.statistics.settings == Options.Settings())
    #expect(Options.Settings().durability == .buffered)
    #expect(Options.Settings().defaultExpiry == .never)
    #expect(Options.Settings().segmentSize == 64 << 20)
    #expect(Options.Settings().compression == .off)
    #expect(Options.Settings().capacity == nil)
  }

  @Test(arguments: [
    Durability.buffered, .synced, .periodic(.zero), .periodic(.nanoseconds(1)), .periodic(.seconds(-1)),
    .periodic(.seconds(Int64.max)),
  ])
  func everyDurabilityIsRemembered(_ durability: Durability) throws {
    let machine = Machine()
    try machine.open { $0.durability = durability }.close()
    let found = try openSayingNothing(machine).statistics.settings.durability
    switch (durability, found) {
    case (.periodic(let time), .periodic(let period)):
      #expect(period == min(max(time, .zero), .nanoseconds(Int64.max)))
    default: #expect(found == durability)
    }
  }

  @Test(arguments: [
    Expiry.never, .after(.zero), .after(.milliseconds(-1)), .after(.milliseconds(Int64.max)),
    .at(WallTime(millisecondsSince1970: .min)), .at(WallTime(millisecondsSince1970: 7)),
  ])
  func everyExpiryIsRemembered(_ expiry: Expiry) throws {
    let machine = Machine()
    try machine.open { $0.defaultExpiry = expiry }.close()
    #expect(try openSayingNothing(machine).statistics.settings.defaultExpiry == expiry)
  }

  @Test func whatIsRememberedIsWhatWritesDo() throws {
    let machine = Machine()
    try machine.open(Self.changeAgain).close()
    var store = try openSayingNothing(machine)
    // Synced without being told.
    try store.put("v", forKey: "k")
    #expect(store.durableSequence == store.lastSequence)
    try store.close()
    try machine.open(Self.change).close()
    store = try openSayingNothing(machine)
    try store.put("v", forKey: "soon")
    machine.clock.advance(milliseconds: 3_600_001)
    #expect(try store.get("soon") == nil)
    #expect(try store.get("k") != nil)
  }

  @Test func aPackedStoreStaysPackedWhenItIsMergedWithoutASay() throws {
    let machine = Machine()
    let text = [UInt8](repeating: 65, count: 900)
    var store = try machine.open { $0.compression = .lz4 }
    for number in 0..<400 { try store.put(text, forKey: "key \(number)") }
    try store.merge()
    #expect(store.statistics.segments.contains { $0.isPacked })
    try store.close()
    store = try openSayingNothing(machine)
    for number in 0..<200 { try store.remove("key \(number)") }
    try store.merge()
    let merged = store.statistics.segments.filter { $0.isMerged }
    #expect(!merged.isEmpty)
    #expect(merged.allSatisfy { $0.isPacked })
    #expect(try store.count() == 200)
  }

  @Test func aReaderUsesWhatIsRecordedAndChangesNothing() throws {
    let machine = Machine()
    let writer = try machine.open(Self.change)
    let before = try files(of: machine)
    var options = Self.saying(machine, readOnly: true)
    Self.changeAgain(&options)
    let reader = try LogStore(at: machine.path, options: options, host: machine.host)
    #expect(reader.statistics.settings == Self.first)
    try reader.close()
    #expect(try files(of: machine) == before)
    try writer.close()
  }

  @Test func aReaderLearnsOfWhatTheNextWriterChooses() throws {
    let machine = Machine()
    try machine.open(Self.change).close()
    let reader = try openSayingNothing(machine, readOnly: true)
    let writer = try machine.open(Self.changeAgain)
    try writer.put("v", forKey: "k")
    try reader.refresh()
    #expect(reader.statistics.settings == Self.second)
  }

  @Test func aBackupAndASalvageRemember() throws {
    let machine = Machine()
    let store = try machine.open(Self.change)
    try store.put("v", forKey: "k")
    try store.backup(to: "/backup")
    try store.close()
    let copy = try LogStore(at: "/backup", options: Self.saying(machine), host: machine.host)
    #expect(copy.statistics.settings == Self.first)
    try LogStore.salvage(from: machine.path, to: "/saved", options: Self.saying(machine), host: machine.host)
    let saved = try LogStore(at: "/saved", options: Self.saying(machine), host: machine.host)
    #expect(saved.statistics.settings == Self.first)
    #expect(try saved.get("k") == bytes("v"))
  }

  @Test func theManifestSaysWhatIsRemembered() throws {
    let machine = Machine()
    try machine.open(Self.change).close()
    let inspection = try StoreInspection(at: machine.path, host: machine.host)
    #expect(inspection.manifest?.settings == Self.first)
  }

  @Test func anOpeningThatChangesNothingWritesNothing() throws {
    let machine = Machine()
    try machine.open(Self.change).close()
    let generation = try StoreInspection(at: machine.path, host: machine.host).manifest?.generation
    let store = try machine.open(Self.change)
    #expect(try StoreInspection(at: machine.path, host: machine.host).manifest?.generation == generation)
    try store.close()
  }

  /// A crash at each call of an opening that changes the settings leaves the old ones or the new ones.
  @Test(arguments: [false, true]) func aCrashAmidAChangeLeavesTheOldOrTheNew(afterCrash: Bool) throws {
    var found: Set<Options.Settings> = []
    for policy in [CrashPolicy.drop, .tear, .reorder, .keep] {
      let taken = Guarded<[SimulatedDisk]>([])
      let bench = FaultBench()
      let machine = Machine()
      let base = try base(machine, afterCrash)
      bench.disk = base
      bench.plan.onCall { [disk = bench.disk] _ in
        taken.withLock { images in
          var generator = SeededGenerator(seed: UInt64(images.count))
          if let image = try? disk.crashImage(policy, using: &generator) { images.append(image) }
        }
      }
      let store = try open(bench)
      #expect(store.statistics.settings == Self.second)
      var generator = SeededGenerator(seed: 7)
      let images = try taken.withLock { $0 } + [bench.disk.crashImage(.drop, using: &generator)]
      store.probe.kill()
      for (number, image) in images.enumerated() {
        let host = StoreHost(platform: image.platform(clock: machine.clock), background: .inline)
        let again = try LogStore(at: machine.path, options: Self.saying(machine), host: host)
        let settings = again.statistics.settings
        found.insert(settings)
        #expect(settings == Self.first || settings == Self.second, "\(policy), call \(number)")
        if number == images.count - 1 { #expect(settings == Self.second) }
        #expect(try again.get("k") == bytes("v"))
        #expect(try again.count() == 1)
        again.probe.kill()
      }
    }
    #expect(found.count == 2)
  }

  private func base(_ machine: Machine, _ afterCrash: Bool) throws -> SimulatedDisk {
    let store = try machine.open(Self.change)
    try store.put("v", forKey: "k", expiry: .never, durability: .synced)
    if !afterCrash { try store.close() } else { store.probe.kill() }
    return try machine.disk.processKilled()
  }

  private func open(_ bench: FaultBench) throws -> LogStore {
    var options = Options()
    options.clock = .fake(bench.clock)
    Self.changeAgain(&options)
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(bench.disk, plan: bench.plan), clock: bench.clock)
    return try LogStore(at: bench.path, options: options, host: StoreHost(platform: platform, background: .inline))
  }

  /// An opening that fails at any call leaves the old settings or the new ones, and the next one works.
  @Test func anErrorAmidAChangeLeavesTheOldOrTheNew() throws {
    let machine = Machine()
    let base = try base(machine, false)
    let whole = FaultBench()
    whole.disk = try base.processKilled()
    try open(whole).probe.kill()
    let calls = whole.plan.callCount
    for nth in 1...calls {
      let bench = FaultBench()
      bench.disk = try base.processKilled()
      bench.plan.fail(nil, nth: nth, .error(PlatformError.inputOutput))
      do {
        let store = try open(bench)
        #expect(store.statistics.settings == Self.second)
        store.probe.kill()
      } catch {}
      let host = StoreHost(platform: try bench.disk.processKilled().platform(clock: machine.clock), background: .inline)
      let again = try LogStore(at: machine.path, options: Self.saying(machine), host: host)
      let settings = again.statistics.settings
      #expect(settings == Self.first || settings == Self.second, "call \(nth)")
      #expect(try again.get("k") == bytes("v"))
      again.probe.kill()
    }
    #expect(calls > 10)
  }

  @Test func aFullStoreCanBeOpenedWithOtherSettings() throws {
    let machine = Machine(capacity: 2 << 20)
    var store = try machine.open()
    #expect(throws: StoreError.self) {
      for number in 0..<10_000 { try store.put([UInt8](repeating: 1, count: 900), forKey: "key \(number)") }
    }
    let count = try store.count()
    try store.close()
    store = try machine.open { $0.durability = .synced }
    #expect(try store.count() == count)
    #expect(throws: Never.self) { try store.remove("key 1") }
  }
}
