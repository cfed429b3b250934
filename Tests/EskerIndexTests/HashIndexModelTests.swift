import EskerIndex
import EskerPlatform
import Testing

/// The index against a dictionary.
@Suite struct HashIndexModelTests {
  @Test func emptyIndexHoldsNothing() throws {
    let index = try makeIndex()
    #expect(index.count == 0)
    #expect(index.candidates(0).isEmpty)
    #expect(index.candidates(.max).isEmpty)
    #expect(!index.remove(1, address: 1))
    #expect(!index.replace(1, address: 1, with: 2))
    #expect(index.checkInvariants().isEmpty)
  }

  @Test func tenKeysCostKilobytes() throws {
    let index = try makeIndex()
    for key in 1...10 { #expect(index.insert(SplitMix.mix(UInt64(key)), address: UInt64(key))) }
    // The table of the smallest size is 256 KiB of address space, of which ten pages are touched.
    #expect(index.memoryBytes <= 300 << 10)
  }

  @Test(arguments: [0, 1_000, 30_000, 400_000, 1_000_000])
  func anIndexWithRoomIsNoLargerAndHoldsTheSameAsOneThatGrew(count: Int) throws {
    let grown = try makeIndex()
    let index = try makeIndex()
    index.makeRoom(for: count)
    #expect(index.checkInvariants().isEmpty)
    for key in 0..<count {
      #expect(grown.insert(SplitMix.mix(UInt64(key)), address: UInt64(key + 1)))
      #expect(index.insert(SplitMix.mix(UInt64(key)), address: UInt64(key + 1)))
    }
    #expect(index.bucketCount == grown.bucketCount)
    #expect(index.memoryBytes <= grown.memoryBytes + grown.memoryBytes / 10 + 2 << 20)
    #expect(index.checkInvariants().isEmpty)
    for key in 0..<count { #expect(index.candidates(SplitMix.mix(UInt64(key))).contains(UInt64(key + 1))) }
  }

  @Test func roomInAnIndexThatHoldsSomethingChangesNothing() throws {
    let index = try makeIndex()
    #expect(index.insert(1, address: 1))
    index.makeRoom(for: 1_000_000)
    #expect(index.bucketCount == Geometry.minimumBucketCount)
    #expect(index.candidates(1) == [1])
  }

  /// Not only once: what is prepared is used up, and chunks get full.
  @Test func growthIsPreparedWheneverItIsNeeded() throws {
    let index = try makeIndex()
    var times = 0
    for key in 0..<500_000 {
      #expect(index.insert(SplitMix.mix(UInt64(key)), address: UInt64(key + 1)))
      guard index.needsGrowth else { continue }
      index.prepareGrowth()
      times += 1
      try #require(!index.needsGrowth)
    }
    // 100,000 buckets are in four chunks of 2 MiB, of which all but the last are full.
    #expect(times >= 3)
    #expect(index.checkInvariants().isEmpty)
  }

  @Test func largeTableHasChunksAheadOfNeed() throws {
    let index = try makeIndex()
    // 64 MiB, of which hardly anything is left.
    index.makeRoom(for: ((32 << 15) - 100) * HashIndex.entriesPerBucket)
    #expect(index.needsGrowth)
    let before = index.memoryBytes
    index.prepareGrowth()
    #expect(!index.needsGrowth)
    // A chunk for buckets, and one for overflow lines.
    #expect(index.memoryBytes == before + 4 << 20)
  }

  @Test func hashZeroAndFingerprintZeroAreFound() throws {
    let index = try makeIndex()
    #expect(index.candidates(0).isEmpty)
    #expect(index.insert(0, address: 7))
    #expect(index.candidates(0) == [7])
    #expect(index.candidates(1).isEmpty)
    #expect(index.remove(0, address: 7))
    #expect(index.candidates(0).isEmpty)
  }

  @Test func manyEqualHashesFormAChain() throws {
    let index = try makeIndex()
    for address in 1...1000 { #expect(index.insert(42, address: UInt64(address))) }
    #expect(index.candidates(42) == (1...1000).map(UInt64.init))
    #expect(index.checkInvariants().isEmpty)
    for address in stride(from: 1, through: 1000, by: 2) { #expect(index.remove(42, address: UInt64(address))) }
    #expect(index.candidates(42).sorted() == stride(from: 2, through: 1000, by: 2).map { UInt64($0) })
    #expect(index.checkInvariants().isEmpty)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func randomOperationsAgreeWithADictionary(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SplitMix(seed: seed)
    let index = try makeIndex()
    var model: [UInt64: UInt64] = [:]
    var keys: [UInt64] = []
    for step in 0..<150_000 {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<60:
        // The low twelve bits clustered now and then, so that chains get long.
        let key = random.next()
        let hash = step % 7 == 0 ? key & ~0xFF0 : key
        if model[hash] == nil {
          let address = UInt64.random(in: 1...Slot.addressMask, using: &random)
          #expect(index.insert(hash, address: address))
          model[hash] = address
          keys.append(hash)
        }
      case 60..<80:
        guard let key = keys.randomElement(using: &random), let old = model[key] else { break }
        let new = UInt64.random(in: 1...Slot.addressMask, using: &random)
        #expect(index.replace(key, address: old, with: new))
        model[key] = new
      case 80..<98:
        guard !keys.isEmpty else { break }
        let at = Int.random(in: 0..<keys.count, using: &random)
        let key = keys.swapAt(at, keys.count - 1) == () ? keys.removeLast() : 0
        guard let old = model.removeValue(forKey: key) else { break }
        #expect(index.remove(key, address: old))
        #expect(!index.remove(key, address: old))
      default:
        if Int.random(in: 0..<50, using: &random) == 0 { index.splitsPaused.toggle() }
      }
      if step % 30_000 == 0 {
        #expect(index.count == model.count)
        #expect(index.checkInvariants().isEmpty)
      }
    }
    index.splitsPaused = false
    #expect(index.count == model.count)
    #expect(index.checkInvariants().isEmpty)
    for (key, address) in model { #expect(index.candidates(key).contains(address)) }
    #expect(index.bucketCount > Geometry.minimumBucketCount)
  }

  @Test func splitsMakeUpForAPause() throws {
    let index = try makeIndex()
    index.splitsPaused = true
    for key in 1...60_000 { #expect(index.insert(SplitMix.mix(UInt64(key)), address: UInt64(key))) }
    #expect(index.bucketCount == Geometry.minimumBucketCount)
    #expect(index.checkInvariants().isEmpty)
    index.splitsPaused = false
    for key in 60_001...70_000 { #expect(index.insert(SplitMix.mix(UInt64(key)), address: UInt64(key))) }
    #expect(Double(index.count) / Double(index.bucketCount) <= 5.5)
    #expect(index.checkInvariants().isEmpty)
    for key in 1...70_000 { #expect(index.candidates(SplitMix.mix(UInt64(key))).contains(UInt64(key))) }
  }

  @Test func fewAbsentKeysHaveCandidates() throws {
    let index = try makeIndex()
    for key in 1...100_000 { #expect(index.insert(SplitMix.mix(UInt64(key)), address: UInt64(key))) }
    var candidates = 0
    for key in 1_000_001...1_100_000 { candidates += index.candidates(SplitMix.mix(UInt64(key))).count }
    // 5.5 entries a bucket and at least 21 bits that tell them apart: 0.3 expected.
    #expect(candidates <= 5)
  }

  @Test func replaceCurrentChangesTheEntryLastReturned() throws {
    let index = try makeIndex()
    for address in 1...20 { #expect(index.insert(9, address: UInt64(address))) }
    var probe = index.writeProbe(9)
    while let address = probe.next() {
      if address == 15 {
        probe.replaceCurrent(with: 1015)
        break
      }
    }
    #expect(index.candidates(9) == (1...20).map { $0 == 15 ? 1015 : UInt64($0) })
  }

  @Test func walkShowsEveryEntryOnceAndRemovesThosePicked() throws {
    let index = try makeIndex()
    var hashes: [UInt64: UInt64] = [:]
    for key in 1...50_000 {
      let hash = SplitMix.mix(UInt64(key))
      hashes[UInt64(key)] = hash
      #expect(index.insert(hash, address: UInt64(key)))
    }
    var seen = Set<UInt64>()
    for start in stride(from: 0, to: index.bucketCount, by: 1000) {
      let isWhole = index.forEachEntry(inBuckets: start..<start + 1000) { entry in
        #expect(seen.insert(entry.address).inserted)
        #expect(hashes[entry.address].map { $0 & ((1 << 36) - 1) } == entry.partialHash)
      }
      #expect(isWhole)
    }
    #expect(seen.count == 50_000)
    let removed = index.removeEntries(inBuckets: 0..<index.bucketCount) { $0.address % 3 == 0 }
    #expect(removed == 16_666)
    #expect(index.count == 50_000 - 16_666)
    #expect(index.checkInvariants().isEmpty)
    for key in 1...50_000 {
      #expect(index.candidates(SplitMix.mix(UInt64(key))).contains(UInt64(key)) == (key % 3 != 0))
    }
  }
}
