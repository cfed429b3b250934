import Esker
import EskerCrypto
import EskerLog
import EskerPlatform
import EskerTestSupport
import Foundation
import Testing

/// Sealing anew ends at each of its steps, by a kill or a power failure.
@Suite(.timeLimit(.minutes(60))) struct ResealingCrashTests {
  /// What is sealed anew, and what is looked at on the way.
  private final class Run: @unchecked Sendable {
    struct Wrong: Error, CustomStringConvertible { let description: String }

    private let bench: SealedBench
    private var generator: SeededGenerator
    private let rarity: Int
    private let old: KeyRing.Key
    private let new = KeyRing.Key.random(id: 2)
    private let both: String
    private var expected: [[String: String]] = []
    /// Eight bytes of each nonce that the old key has sealed with.
    private var oldNonces: [Data] = []
    private let plan = FaultPlan()
    private var failure: (any Error)?
    private(set) var points = 0
    private(set) var disks = 0
    /// How often a search found anything of the old key before it was erased.
    private(set) var found = 0

    init(seed: UInt64, rarity: Int) throws {
      generator = SeededGenerator(seed: seed)
      self.rarity = rarity
      old = .random(id: 1, algorithm: generator.oneIn(2) ? .aesGCM : .chaChaPoly)
      both = try KeyRing(new, older: [old]).text
      var bench = SealedBench()
      bench.options.compression = generator.oneIn(2) ? .lz4 : .off
      bench.options.merge.isAutomatic = generator.oneIn(2)
      bench.reusesSpace = generator.oneIn(2)
      bench.leavesCheckpoints = generator.oneIn(2)
      self.bench = bench
    }

    func run() throws {
      let before = try bench.start(try KeyRing(old).text)
      for round in 0..<2 {
        for (space, storage) in before.storages.enumerated() {
          for number in 0..<8 {
            let text = "\(round) \(space) \(number) " + String(repeating: "long ", count: generator.oneIn(4) ? 200 : 3)
            try storage.set(text, forKey: "\(number)")
            try noteNonce(before, space, "\(number)")
          }
        }
        if round == 0, generator.oneIn(2) { try before.store.merge() }
      }
      expected = try contents(before)
      try before.store.close()

      let process = try bench.start(both, plan) { [weak self] in self?.look("a write") }
      plan.onCall { [weak self] call in self?.look("\(call)") }
      for name in SealedProcess.spaces {
        guard try process.store.keyspace(name).reseal(with: process.keys).isComplete else { throw wrong("no end") }
      }
      try process.store.close()
      plan.onCall(nil)
      if let failure { throw failure }
      try goOn(bench, "the end")
    }

    private func noteNonce(_ process: SealedProcess, _ space: Int, _ key: String) throws {
      guard let bytes = try process.store.keyspace(SealedProcess.spaces[space]).get(key) else { return }
      // A packed record may have the first ones elsewhere.
      oldNonces.append(Data(bytes[10..<18]))
    }

    private func look(_ point: String) {
      points += 1
      guard failure == nil, generator.oneIn(rarity) else { return }
      do {
        for policy in CrashPolicy.allCases.map(Optional.some) + [nil] {
          disks += 1
          let image =
            try policy.map { try bench.disk.crashImage($0, using: &generator) } ?? bench.disk.processKilled()
          try goOn(bench.on(image), "\(policy.map { "\($0)" } ?? "kill") at \(point)")
        }
      } catch { failure = error is Wrong ? error : wrong("\(point): \(error)") }
    }

    /// All can be read with both keys; it goes on, and then with the new one; and once more is erased, nothing of the old key is left.
    private func goOn(_ bench: SealedBench, _ moment: String) throws {
      let process = try bench.start(both)
      try expect(process, "with both keys after \(moment)")
      guard generator.oneIn(3) else { return try process.store.close() }
      for (space, name) in SealedProcess.spaces.enumerated() {
        guard try process.store.keyspace(name).reseal(with: process.keys).isComplete else { throw wrong("no end") }
        for number in 0..<8 {
          let id = keyID(try process.store.keyspace(name).get("\(number)"))
          guard id == 2 else { throw wrong("\(space) \(number) has key \(id ?? 0) after \(moment)") }
        }
      }
      // Power may fail as soon as the old key is thrown away.
      let failed = bench.on(try bench.disk.crashImage(.drop, using: &generator))
      let alone = try failed.start(try KeyRing(new).text)
      try expect(alone, "with the new key after \(moment)")
      try alone.store.close()
      if try !left(in: bench).isEmpty { found += 1 }
      try process.store.eraseNow()
      let files = try left(in: bench)
      guard files.isEmpty else { throw wrong("something of the old key is in \(files) after \(moment)") }
      try process.store.close()
    }

    private func left(in bench: SealedBench) throws -> [String] {
      try bench.files().compactMap { name, bytes in
        let data = Data(bytes)
        return oldNonces.contains { data.range(of: $0) != nil } ? name : nil
      }
    }

    private func contents(_ process: SealedProcess) throws -> [[String: String]] {
      try process.storages.map { storage in
        Dictionary(uniqueKeysWithValues: try storage.entries().map { ($0.key, $0.entry.value) })
      }
    }

    private func expect(_ process: SealedProcess, _ moment: String) throws {
      do { guard try contents(process) == expected else { throw wrong("something else \(moment)") } } catch {
        throw error is Wrong ? error : wrong("\(moment): \(error)")
      }
    }

    private func wrong(_ what: String) -> Wrong { Wrong(description: what) }
  }

  /// Nothing was left to be sealed anew, but what has the new key was in the cache only.
  ///
  /// - Parameter isInTurn: Whether another process has written it.
  @Test(arguments: [false, true]) func noValueOfTheOldKeyComesBack(_ isInTurn: Bool) throws {
    let old = KeyRing.Key.random(id: 1)
    let new = KeyRing.Key.random(id: 2)
    var bench = SealedBench()
    if isInTurn { bench.options.sharing = .inTurn() }
    let first = try bench.start(try KeyRing(old).text)
    try first.storages[0].set("old", forKey: "a", durability: .synced)
    try first.keys.rotate(to: new)
    var others: SealedProcess?
    if isInTurn {
      try first.store.suspend()
      let second = try bench.start(try KeyRing(new, older: [old]).text)
      try second.storages[0].set("new", forKey: "a")
      try second.store.suspend()
      try first.store.resume()
      others = second
    } else {
      try first.storages[0].set("new", forKey: "a")
    }
    for name in SealedProcess.spaces {
      let result = try first.store.keyspace(name).reseal(with: first.keys)
      #expect(result.isComplete && result.resealed == 0)
    }
    var generator = SeededGenerator(seed: 1)
    let failed = bench.on(try bench.disk.crashImage(.drop, using: &generator))
    #expect(try failed.start(try KeyRing(new).text).storages[0].value(forKey: "a") == "new")
    withExtendedLifetime(others) {}
  }

  @Test func itGoesOnWhereverItEnded() {
    var seeds = SeededGenerator(announcedFor: "ResealingCrashTests")
    var seed = seeds.seed
    var (points, disks, found) = (0, 0, 0)
    for _ in 0..<Rounds.count(6, thorough: 200) {
      do {
        let run = try Run(seed: seed, rarity: Rounds.areThorough ? 1 : 6)
        try run.run()
        points += run.points
        disks += run.disks
        found += run.found
      } catch {
        Issue.record("replay with ESKER_SEED=\(seed): \(error)")
        return
      }
      seed = seeds.next() >> 32
    }
    print("\(points) steps, \(disks) disks, old ciphertext before erasing in \(found)")
    #expect(points > 100 && disks > 0 && found > 0)
  }
}
