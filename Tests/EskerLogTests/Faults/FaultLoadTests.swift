import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Platform calls that fail under load: several writers, merges, syncs, backups and the store's own threads. Then a kill or a
/// power cut, and a comparison with what each writer was told.
@Suite(.serialized) struct FaultLoadCrashTests {
  private static let writerCount = 3
  private static let keyCount = 4

  /// What one writer knows of its keys, which nobody else writes. A key of 0 is absent.
  private struct Knowledge: Sendable {
    /// Numbers that a key may have after the end of the process, the newest last.
    var afterKill = [[Int]](repeating: [0], count: keyCount)
    /// And after a power cut.
    var afterPowerCut = [[Int]](repeating: [0], count: keyCount)
    var returned = 0
    var thrown = 0
    var unknown = 0

    mutating func returned(_ changes: [(key: Int, number: Int)], isDurable: Bool) {
      returned += 1
      for (key, number) in changes {
        afterKill[key] = [number]
        afterPowerCut[key].append(number)
      }
      // Durability is a prefix: whatever came before is durable too.
      if isDurable { afterPowerCut = afterKill }
    }

    mutating func threw(_ error: StoreError, _ changes: [(key: Int, number: Int)]) {
      thrown += 1
      guard case .outcomeUnknown = error else { return }
      unknown += 1
      for (key, number) in changes {
        afterKill[key].append(number)
        afterPowerCut[key].append(number)
      }
    }
  }

  private static func key(_ writer: Int, _ key: Int) -> String { "writer \(writer) key \(key)" }

  /// Writes until it is told to stop; the last two keys always together.
  private static func write(
    _ writer: Int,
    to store: LogStore,
    _ generator: SeededGenerator,
    until isOver: (Int) -> Bool
  ) -> Knowledge {
    var generator = generator
    var knowledge = Knowledge()
    var number = 0
    while !isOver(number) {
      number += 1
      let length = generator.oneIn(4) ? Int.random(in: 3_000...12_000, using: &generator) : 100
      let value = Array("\(number) ".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
      let isSynced = generator.oneIn(3)
      let durability: Durability = isSynced ? .synced : .buffered
      let place = Int.random(in: 0..<keyCount - 1, using: &generator)
      let isRemoval = generator.oneIn(5)
      let isPair = place == keyCount - 2
      let places = isPair ? [place, place + 1] : [place]
      let changes = places.map { (key: $0, number: isRemoval ? 0 : number) }
      do throws(StoreError) {
        if isPair {
          try store.write(durability: durability) { (batch) throws(StoreError) in
            for place in places {
              if isRemoval {
                try batch.remove(key(writer, place))
              } else {
                try batch.put(value, forKey: key(writer, place))
              }
            }
          }
        } else if isRemoval {
          try store.remove(key(writer, place), durability: durability)
        } else {
          try store.put(value, forKey: key(writer, place), durability: durability)
        }
        // A removal of what is not there writes nothing, so it waits for nothing.
        knowledge.returned(changes, isDurable: isSynced && !isRemoval)
      } catch {
        knowledge.threw(error, changes)
      }
    }
    return knowledge
  }

  /// What else goes on in a store; errors are not its business.
  private static func disturb(_ store: LogStore, _ generator: SeededGenerator, until isOver: () -> Bool) {
    var generator = generator
    var number = 0
    while !isOver() {
      number += 1
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: _ = try? store.merge()
      case 1: try? store.sync()
      case 2: _ = try? store.keyspace("space \(number)")
      case 3: _ = try? store.backup(to: "/backup \(number)")
      case 4: store.probe.writeCheckpoint()
      default: try? store.default.setDefaultExpiry(.seconds(1_000_000 + number))
      }
    }
  }

  private struct Tally {
    var returned = 0
    var thrown = 0
    var unknown = 0
    var images = 0

    /// Whether there was enough of each outcome.
    var isTelling: Bool { returned > 1_000 && thrown > 100 && unknown > 0 }
  }

  private static func round(_ seed: UInt64, _ tally: inout Tally) throws {
    var generator = SeededGenerator(seed: seed)
    let disk = SimulatedDisk()
    let plan = FaultPlan()
    let clock = FakeClock()
    var options = Options()
    options.segmentSize = 64 << 10
    options.clock = .fake(clock)
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(disk, plan: plan), clock: clock, seed: 2)
    let store = try LogStore(at: "/store", options: options, host: StoreHost(platform: platform, background: .threads))
    try store.put("0 ", forKey: "first", durability: .synced)
    let code = generator.oneIn(2) ? PlatformError.inputOutput : PlatformError.noSpace
    let extent = FaultTableCrashTests.Extent.allCases[Int.random(in: 0..<3, using: &generator)]
    let nth = Int.random(in: 1...400, using: &generator)
    extent.plant(plan, code: code, from: nth)
    let moment = "ESKER_SEED=\(seed): error \(code) \(extent) from call \(nth)"
    let known = Guarded([Knowledge](repeating: Knowledge(), count: writerCount))
    let splits = (0...writerCount).map { _ in generator.split() }
    let ended = SharedCounter()
    let started = plan.callCount
    let errors = try onThreads(writerCount + 1) { thread in
      if thread == writerCount { return disturb(store, splits[thread]) { ended.value == writerCount } }
      // At least as long as it takes to meet the fault.
      let knowledge = write(thread, to: store, splits[thread]) { number in
        number >= 60 && (plan.callCount > started + nth + 60 || number >= 4_000)
      }
      known.withLock { $0[thread] = knowledge }
      ended.add()
    }
    #expect(errors.isEmpty)
    let knowledge = known.withLock { $0 }
    var images: [(String, SimulatedDisk, Bool)] = [("a kill", try disk.processKilled(), true)]
    for policy in [CrashPolicy.drop, .tear, .reorder, .keep] {
      images.append(("a power cut (\(policy))", try disk.crashImage(policy, using: &generator), false))
    }
    store.probe.kill()
    for (name, image, isKill) in images {
      tally.images += 1
      let moment = "\(moment), then \(name)"
      let host = StoreHost(platform: Platform.simulated(fileSystem: image, clock: clock, seed: 3), background: .inline)
      let found: LogStore
      do { found = try LogStore(at: "/store", options: options, host: host) } catch {
        Issue.record("\(moment): does not open: \(error)")
        continue
      }
      for (writer, knowledge) in knowledge.enumerated() {
        let numbers = try (0..<keyCount).map { place in
          try found.get(key(writer, place)).map { StoreCall.number(in: $0) } ?? 0
        }
        let possible = isKill ? knowledge.afterKill : knowledge.afterPowerCut
        for (place, number) in numbers.enumerated() {
          let numbers = possible[place]
          #expect(numbers.contains(number), "\(moment): writer \(writer) key \(place): \(numbers.suffix(9))")
        }
        #expect(numbers[keyCount - 2] == numbers[keyCount - 1], "\(moment): half a batch of writer \(writer)")
      }
      // A power cut may tear one copy of the manifest; the other is whole.
      let damage = try found.verify().damage.filter { !$0.location.path.contains("/manifest.") }
      #expect(damage.isEmpty, "\(moment)")
      found.probe.kill()
    }
    for each in knowledge {
      tally.returned += each.returned
      tally.thrown += each.thrown
      tally.unknown += each.unknown
    }
  }

  @Test func whatWritersAreToldUnderLoadIsTrue() throws {
    var sweep = Sweep(announcedFor: "FaultLoadCrashTests")
    var tally = Tally()
    var rounds = 0
    func run() throws {
      rounds += 1
      try Self.round(sweep.split().seed, &tally)
    }
    for _ in sweep.points(of: 300, atMost: 10) { try run() }
    // Faults may come so early, or so late, in the first ones that hardly a write returned, or none threw.
    while !tally.isTelling, rounds < 300 { try run() }
    print(
      "FaultLoad: \(rounds) rounds, \(tally.returned) writes returned, \(tally.thrown) threw, \(tally.unknown) of them "
        + "without knowing, \(tally.images) images"
    )
    #expect(tally.isTelling)
  }
}
