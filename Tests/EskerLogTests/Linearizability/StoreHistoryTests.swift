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

/// Histories of threads and tasks that use a few keys of a store at once, while it merges, syncs, closes and opens again: each
/// operation takes effect at one instant of its call. Snapshots see batches as a whole, reads of single keys need not.
@Suite(.serialized, .timeLimit(.minutes(60))) struct StoreHistoryTests {
  private func open(_ path: String) throws(StoreError) -> LogStore {
    var options = Options()
    options.segmentSize = 64 << 10
    options.merge.spaceAmplification = 1.1
    return try LogStore(at: path, options: options)
  }

  /// What goes on beside the callers until they end: other keys fill segments, so that merges move what the callers use.
  private static func disturb(_ store: LogStore, until isOver: SharedFlag, _ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var held: Snapshot?
    let value = [UInt8](repeating: 7, count: 3000)
    while !isOver.isRaised {
      for _ in 0..<8 { try store.put(value, forKey: "filler \(Int.random(in: 0..<30, using: &random))") }
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try store.merge()
      case 1: held = try store.snapshot()
      case 2: held = nil
      case 3: try store.sync()
      default: store.probe.writeCheckpoint()
      }
    }
    withExtendedLifetime(held) {}
  }

  /// Runs callers on a store that is closed under them and opened again, and says what is wrong with their history.
  private func objections(
    batches: Bool,
    keys: Int,
    callers count: Int,
    steps: Int,
    _ seeds: inout SeededGenerator
  ) throws
    -> [String]
  {
    let directory = try TemporaryDirectory()
    let path = directory.appending("store")
    let recorder = HistoryRecorder<KeyValueModel>()
    let callers = (0..<count).map { number in
      let caller = StoreCaller(number, keys: keys, recorder, seeds.split())
      caller.isTask = number % 3 == 2
      caller.usesBatches = batches
      return caller
    }
    for _ in 0..<2 {
      let store = try open(path)
      let space = try store.keyspace("space")
      let (isOver, left) = (SharedFlag(), SharedCounter())
      let (arrivals, hasFailed) = (SharedCounter(), SharedFlag())
      let seed = seeds.next()
      let errors = try onThreads(count + 1) { number in
        guard number < count else {
          try Self.disturb(store, until: isOver, seed)
          return try store.close()
        }
        let caller = callers[number]
        for step in 0..<steps {
          do { try caller.step(store, space) } catch {
            hasFailed.raise()
            throw error
          }
          caller.pause()
          // One that was kept from running does not overlap all that the others do, whose orders would be too many.
          guard step % 20 == 19 else { continue }
          arrivals.add()
          while arrivals.value < (step + 1) / 20 * count, !hasFailed.isRaised { usleep(50) }
        }
        // Until the store is closed, which is amid some call.
        if left.add() == count { isOver.raise() }
        do throws(StoreError) {
          while true {
            try caller.step(store, space)
            usleep(200)
          }
        } catch .closed {}
      }
      #expect(errors.isEmpty, "\(errors)")
      try store.close()
    }
    let store = try open(path)
    #expect(try store.verify().isClean)
    try store.close()
    let model = KeyValueModel(keys: keys)
    let checker = LinearizabilityChecker(model)
    let history = recorder.operations
    let views = batches ? [model.keyByKey(history), model.wholeBatches(history)] : [history]
    return views.compactMap(checker.objection(to:))
  }

  @Test(arguments: [false, true]) func operationsTakeEffectAtOneInstant(_ batches: Bool) throws {
    var seeds = SeededGenerator(announcedFor: "operationsTakeEffectAtOneInstant \(batches)")
    for round in 0..<Rounds.count(5, thorough: 200) {
      let found = try objections(
        batches: batches,
        keys: batches ? 3 : 1 + round % 3,
        callers: 2 + round % 3,
        steps: 200,
        &seeds
      )
      #expect(found.isEmpty, "round \(round): \(found.joined(separator: "\n\n"))")
    }
  }
}
