import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A read-only store beside its writer. It may be behind, but it shows a prefix of the writer's history that never gets shorter, with
/// whole batches, and after a refresh all that was written before.
@Suite(.serialized, .timeLimit(.minutes(60))) struct FollowerHistoryTests {
  private static let keys = 4

  struct Wrong: Error { var what: String }

  /// What one thread writes, step by step: step `n` gives the number n to some keys.
  private struct Script: Sendable {
    /// The store after each step.
    var states: [[Int?]] = [Array(repeating: nil, count: keys)]
    /// The keys that each step writes, from step 1.
    var steps: [[Int]] = [[]]

    init(steps count: Int, _ random: inout SeededGenerator) {
      for step in 1...count {
        var written = (0..<FollowerHistoryTests.keys).filter { _ in random.oneIn(2) }
        if written.isEmpty || random.oneIn(2) { written = [step % FollowerHistoryTests.keys] }
        var state = states[step - 1]
        for key in written { state[key] = step }
        states.append(state)
        steps.append(written)
      }
    }

    /// The step that ended what a key had after `step`.
    func end(of key: Int, since step: Int) -> Int {
      (step + 1..<steps.count).first { steps[$0].contains(key) } ?? .max
    }
  }

  /// What was seen, and what must be seen from now on.
  private final class Floors: Sendable {
    private struct Least {
      /// For snapshots, and for reads of a key.
      var store = 0
      var keys = Array(repeating: 0, count: FollowerHistoryTests.keys)
    }

    private let least = Guarded(Least())
    private let acknowledged = Guarded(0)
    private let begun = Guarded(0)

    func begin(_ step: Int) { begun.withLock { $0 = step } }
    func acknowledge(_ step: Int) { acknowledged.withLock { $0 = step } }

    var newest: Int { begun.withLock { $0 } }
    var written: Int { acknowledged.withLock { $0 } }
    var store: Int { least.withLock { max($0.store, $0.keys.max() ?? 0) } }
    func key(_ key: Int) -> Int { least.withLock { max($0.store, $0.keys[key]) } }

    /// The whole store was seen as after a step.
    func sawStore(_ step: Int) { least.withLock { $0.store = max($0.store, step) } }
    func sawKey(_ key: Int, _ step: Int) { least.withLock { $0.keys[key] = max($0.keys[key], step) } }
  }

  private static func write(_ script: Script, _ store: LogStore, _ floors: Floors) throws {
    let filler = [UInt8](repeating: 7, count: 3000)
    for (step, keys) in script.steps.enumerated().dropFirst() {
      floors.begin(step)
      if keys.count == 1 {
        try store.put(StoreCaller.bytes(step), forKey: "\(keys[0])")
      } else {
        try store.write { (batch) throws(StoreError) in
          for key in keys { try batch.put(StoreCaller.bytes(step), forKey: "\(key)") }
        }
      }
      floors.acknowledge(step)
      if step % 3 == 0 { try store.put(filler, forKey: "filler \(step % 30)") }
      if step % 100 == 0 { try store.merge() }
    }
  }

  private static func read(
    _ store: LogStore,
    _ script: Script,
    _ floors: Floors,
    _ random: inout SeededGenerator
  ) throws {
    if random.oneIn(8) {
      let written = floors.written
      try store.refresh()
      floors.sawStore(written)
    }
    if random.oneIn(3) {
      let floor = floors.store
      let snapshot = try store.snapshot()
      var values = [Int?](repeating: nil, count: keys)
      for entry in snapshot {
        guard let key = Int(String(decoding: try entry.key(), as: UTF8.self)) else { continue }
        values[key] = StoreCaller.number(try entry.value())
      }
      let step = values.compactMap(\.self).max() ?? 0
      guard step < script.states.count, script.states[step] == values else { throw Wrong(what: "no prefix: \(values)") }
      guard step >= floor else { throw Wrong(what: "step \(step) in a snapshot, after \(floor)") }
      guard step <= floors.newest else { throw Wrong(what: "step \(step) was not begun") }
      floors.sawStore(step)
    } else {
      let key = Int.random(in: 0..<keys, using: &random)
      let floor = floors.key(key)
      let step = StoreCaller.number(try store.get("\(key)")) ?? 0
      guard script.end(of: key, since: step) > floor else {
        throw Wrong(what: "step \(step) of key \(key), after \(floor)")
      }
      guard step <= floors.newest else { throw Wrong(what: "step \(step) was not begun") }
      floors.sawKey(key, step)
    }
  }

  @Test func aFollowerShowsPrefixesThatNeverGetShorter() throws {
    var seeds = SeededGenerator(announcedFor: "aFollowerShowsPrefixesThatNeverGetShorter")
    for round in 0..<Rounds.count(3, thorough: 100) {
      let directory = try TemporaryDirectory()
      func open(readOnly: Bool) throws -> LogStore {
        var options = Options()
        options.segmentSize = 64 << 10
        options.merge.spaceAmplification = 1.1
        options.readOnly = readOnly
        return try LogStore(at: directory.appending("store"), options: options)
      }
      let (writer, reader) = (try open(readOnly: false), try open(readOnly: true))
      let script = Script(steps: 1000, &seeds)
      let floors = Floors()
      let isOver = SharedFlag()
      let generators = (0..<3).map { _ in seeds.split() }
      let errors = try onThreads(3) { number in
        var random = generators[number]
        if number == 0 {
          defer { isOver.raise() }
          return try Self.write(script, writer, floors)
        }
        while !isOver.isRaised { try Self.read(reader, script, floors, &random) }
      }
      #expect(errors.isEmpty, "round \(round): \(errors)")
      try reader.refresh()
      #expect(try (0..<Self.keys).map { StoreCaller.number(try reader.get("\($0)")) } == script.states.last)
      try reader.close()
      try writer.close()
    }
  }
}
