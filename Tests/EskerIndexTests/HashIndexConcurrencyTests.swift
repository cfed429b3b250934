import EskerIndex
import EskerPlatform
import Foundation
import Synchronization
import Testing

/// Readers beside a writer: what is there throughout is always found, what never is there never.
@Suite struct HashIndexConcurrencyTests {
  /// An address names the key it belongs to, as a record in a log does, and a version of it.
  struct Keys: Sendable {
    let seed: UInt64

    /// Into one of 256 buckets of the smallest table, or of all, so that there are long chains and short ones.
    func hash(_ id: UInt64) -> UInt64 {
      let hash = SplitMix.mix(id &+ seed)
      return id % 2 == 0 ? hash & ~0xF00 : hash
    }

    static func address(_ id: UInt64, version: UInt64) -> UInt64 { id << 8 | version & 0xFF }
    static func id(_ address: UInt64) -> UInt64 { address >> 8 }
  }

  final class Run: Sendable {
    let stopped = Atomic<Bool>(false)
    let missed = Atomic<Int>(0)
    let invented = Atomic<Int>(0)
    let damaged = Atomic<Int>(0)
    let probes = Atomic<Int>(0)
  }

  static let permanent: UInt64 = 2_000
  static let churned: UInt64 = 30_000
  static let absent: UInt64 = 1 << 20

  @Test(arguments: [11, 12] as [UInt64])
  func presentKeysAreNeverMissedAndAbsentOnesNeverFound(seed: UInt64) throws {
    print("seed \(seed)")
    let epochs = EpochDomain()
    let index = try makeIndex(epochs)
    let keys = Keys(seed: seed)
    for id in 1...Self.permanent { #expect(index.insert(keys.hash(id), address: Keys.address(id, version: 0))) }
    let run = Run()
    work(index, epochs, keys, run)
    expectSound(index, run)
  }

  @Test func readersAndWriterWorkWhileAnImageMigrates() throws {
    let seed: UInt64 = 21
    let source = try makeIndex()
    let keys = Keys(seed: seed)
    for id in 1...Self.permanent { #expect(source.insert(keys.hash(id), address: Keys.address(id, version: 0))) }
    for id in 1_000_000..<1_190_000 as Range<UInt64> {
      #expect(source.insert(SplitMix.mix(id), address: Keys.address(id, version: 0)))
    }
    let epochs = EpochDomain()
    let index = try ImageBuffers(exporting: source).adopt(epochs)
    let run = Run()
    work(index, epochs, keys, run)
    expectSound(index, run)
    #expect(!index.needsMigration)
  }

  /// A few chains in which the entries looked for are moved all the time.
  @Test func entriesThatAreAlwaysOnTheMoveAreNeverMissed() throws {
    let epochs = EpochDomain()
    let index = try makeIndex(epochs)
    let run = Run()
    // Ten permanent entries behind ten that come and go.
    func hash(_ number: Int) -> UInt64 { UInt64(number) << 20 }
    for number in 1...20 { #expect(index.insert(hash(number), address: UInt64(number))) }
    let read: @Sendable () -> Void = {
      var probes = 0
      repeat {
        let number = UInt64(11 + probes % 10)
        let pin = epochs.enter()
        var probe = index.probe(number << 20)
        if probe.next() != number { run.missed.wrappingAdd(1, ordering: .relaxed) }
        epochs.exit(pin)
        probes += 1
      } while !run.stopped.load(ordering: .acquiring)
      run.probes.wrappingAdd(probes, ordering: .relaxed)
    }
    onThreads([
      read,
      {
        for step in 0..<300_000 {
          let number = UInt64(1 + step % 10)
          if !index.remove(number << 20, address: number) || !index.insert(number << 20, address: number) { break }
        }
        run.stopped.store(true, ordering: .releasing)
      },
    ])
    expectSound(index, run)
    #expect(index.count == 20)
  }

  /// Each bucket that a split adds gets an entry at least, which is looked for as soon as the bucket counts.
  @Test func whatASplitHasMovedIsNeverMissed() throws {
    let epochs = EpochDomain()
    let index = try makeIndex(epochs)
    let (first, last) = (Geometry.minimumBucketCount, 8 * Geometry.minimumBucketCount)
    let hash: @Sendable (Int) -> UInt64 = { bucket in UInt64(bucket) | 1 << 20 }
    for bucket in first..<last { #expect(index.insert(hash(bucket), address: UInt64(bucket))) }
    let run = Run()
    let isReading = Atomic<Bool>(false)
    onThreads([
      {
        var probes = 0
        repeat {
          let newest = max(first, index.bucketCount - 1)
          let pin = epochs.enter()
          var probe = index.probe(hash(newest))
          var isFound = false
          while !isFound, let address = probe.next() { isFound = address == UInt64(newest) }
          if !isFound { run.missed.wrappingAdd(1, ordering: .relaxed) }
          epochs.exit(pin)
          probes += 1
          isReading.store(true, ordering: .relaxed)
        } while !run.stopped.load(ordering: .acquiring)
        run.probes.wrappingAdd(probes, ordering: .relaxed)
      },
      {
        while !isReading.load(ordering: .relaxed) { sched_yield() }
        var number: UInt64 = 0
        while index.bucketCount < last, run.missed.load(ordering: .relaxed) == 0 {
          number += 1
          if !index.insert(SplitMix.mix(number), address: 1 << 30) { break }
        }
        run.stopped.store(true, ordering: .releasing)
      },
    ])
    expectSound(index, run)
    #expect(index.bucketCount == last)
  }

  private func expectSound(_ index: HashIndex, _ run: Run) {
    #expect(run.missed.load(ordering: .relaxed) == 0)
    #expect(run.invented.load(ordering: .relaxed) == 0)
    #expect(run.damaged.load(ordering: .relaxed) == 0)
    #expect(run.probes.load(ordering: .relaxed) > 0)
    #expect(index.checkInvariants().isEmpty)
  }

  private func work(_ index: HashIndex, _ epochs: EpochDomain, _ keys: Keys, _ run: Run) {
    onThreads([
      { Self.write(index, keys, run) },
      { Self.read(index, epochs, keys, run, seed: 1) },
      { Self.read(index, epochs, keys, run, seed: 2) },
      {
        while !run.stopped.load(ordering: .acquiring) {
          index.prepareGrowth()
          index.prepareMigration()
          epochs.collect()
          sched_yield()
        }
      },
    ])
  }

  private static func write(_ index: HashIndex, _ keys: Keys, _ run: Run) {
    var random = SplitMix(seed: keys.seed)
    var versions = [UInt64](repeating: 0, count: Int(permanent) + 1)
    var present = Set<UInt64>()
    // Grows on the whole, so that buckets are split throughout.
    for step in 0..<60_000 {
      let id = permanent + 1 + UInt64.random(in: 0..<churned, using: &random)
      let address = Keys.address(id, version: 0)
      if present.contains(id) {
        if step % 3 == 0 && index.remove(keys.hash(id), address: address) { present.remove(id) }
      } else if index.insert(keys.hash(id), address: address) {
        present.insert(id)
      }
      let kept = UInt64.random(in: 1...permanent, using: &random)
      let old = versions[Int(kept)]
      let new = (old + 1) & 0xFF
      let isReplaced = index.replace(
        keys.hash(kept),
        address: Keys.address(kept, version: old),
        with: Keys.address(kept, version: new)
      )
      if isReplaced { versions[Int(kept)] = new }
      if step % 5_000 == 0 { index.splitsPaused.toggle() }
      if step % 200 == 0 { index.migrateNextChunk() }
      if step % 10_000 == 9_999 {
        index.removeEntries(inBuckets: 0..<index.bucketCount) { entry in
          let id = Keys.id(entry.address)
          return id > permanent && id % 3 == 0 && present.remove(id) != nil
        }
      }
    }
    index.splitsPaused = false
    while index.migrateNextChunk() {}
    run.stopped.store(true, ordering: .releasing)
  }

  private static func read(_ index: HashIndex, _ epochs: EpochDomain, _ keys: Keys, _ run: Run, seed: UInt64) {
    var random = SplitMix(seed: seed)
    var probes = 0
    repeat {
      for id in [
        UInt64.random(in: 1...permanent, using: &random), absent + UInt64.random(in: 1...permanent, using: &random),
      ] {
        let pin = epochs.enter()
        defer { epochs.exit(pin) }
        var probe = index.probe(keys.hash(id))
        var isFound = false
        while let address = probe.next() {
          if Keys.id(address) == id {
            isFound = true
            break
          }
        }
        if probe.isDamaged { run.damaged.wrappingAdd(1, ordering: .relaxed) }
        if isFound != (id <= permanent) {
          if isFound {
            run.invented.wrappingAdd(1, ordering: .relaxed)
          } else {
            run.missed.wrappingAdd(1, ordering: .relaxed)
          }
        }
        probes += 1
      }
    } while !run.stopped.load(ordering: .acquiring)
    run.probes.wrappingAdd(probes, ordering: .relaxed)
  }
}
