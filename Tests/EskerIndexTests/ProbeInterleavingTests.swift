import EskerIndex
import EskerPlatform
import Testing

/// The writer moves what a probe that is under way looks for.
///
/// Making a probe reads the bucket's own line, `next` the rest.
@Suite struct ProbeInterleavingTests {
  /// A hash in bucket zero of the smallest table, with a fingerprint of its own; `rises` when the bucket's split moves it.
  static func hash(_ number: Int, rises: Bool = false) -> UInt64 {
    UInt64(number) << 20 | (rises ? 1 << 12 : 0)
  }

  static func chain(_ epochs: EpochDomain, _ count: Int) throws -> HashIndex {
    let index = try makeIndex(epochs)
    for number in 1...count { #expect(index.insert(hash(number), address: UInt64(number))) }
    return index
  }

  static func rest(_ probe: inout Probe) -> [UInt64] {
    var found: [UInt64] = []
    while let address = probe.next() { found.append(address) }
    return found
  }

  /// Adds entries to other buckets until the next insertion splits bucket zero.
  static func fillToSplit(_ index: HashIndex) {
    var number: UInt64 = 0
    while index.count < Geometry.minimumBucketCount * HashIndex.entriesPerBucket {
      number += 1
      let bucket = number % UInt64(Geometry.minimumBucketCount - 1) + 1
      #expect(index.insert(bucket | number << 20, address: 1 << 30))
    }
    #expect(index.bucketCount == Geometry.minimumBucketCount)
  }

  @Test(arguments: [8, 14, 15, 20, 30])
  func entryThatFillsAHoleBehindTheProbeIsFound(count: Int) throws {
    let epochs = EpochDomain()
    let index = try Self.chain(epochs, count)
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    var probe = index.probe(Self.hash(count))
    #expect(index.remove(Self.hash(3), address: 3))
    #expect(Self.rest(&probe) == [UInt64(count)])
    #expect(index.checkInvariants().isEmpty)
  }

  @Test func whatIsAtHandStandsOnTheFirstLineAndTheSearchGoesOnAfterIt() throws {
    let epochs = EpochDomain()
    let index = try Self.chain(epochs, 20)
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    for number in 1...21 {
      var probe = index.probe(Self.hash(number))
      #expect(probe.nextAtHand() == (number <= 7 ? UInt64(number) : nil))
      #expect(Self.rest(&probe) == (8...20 ~= number ? [UInt64(number)] : []))
      #expect(!probe.isDamaged)
    }
  }

  @Test(arguments: [3, 6, 7, 12, 20])
  func entryThatMovesToANewBucketIsFound(behind count: Int) throws {
    let epochs = EpochDomain()
    let index = try Self.chain(epochs, count)
    #expect(index.insert(Self.hash(99, rises: true), address: 99))
    Self.fillToSplit(index)
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    var probe = index.probe(Self.hash(99, rises: true))
    #expect(index.insert(1 | 77 << 40, address: 7))
    #expect(index.bucketCount == Geometry.minimumBucketCount + 1)
    #expect(Self.rest(&probe) == [99])
  }

  @Test(arguments: [1, 6, 7, 9, 20])
  func entryThatStaysInASplitBucketButMovesForwardIsFound(behind count: Int) throws {
    let epochs = EpochDomain()
    let index = try makeIndex(epochs)
    for number in 1...count { #expect(index.insert(Self.hash(number, rises: true), address: UInt64(number))) }
    #expect(index.insert(Self.hash(99), address: 99))
    Self.fillToSplit(index)
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    var probe = index.probe(Self.hash(99))
    #expect(index.insert(1 | 77 << 40, address: 7))
    #expect(Self.rest(&probe) == [99])
    #expect(index.checkInvariants().isEmpty)
  }

  @Test func entryThatMovesAfterItsChunkMigratedIsFound() throws {
    let epochs = EpochDomain()
    let index = try ImageBuffers(exporting: Self.chain(epochs, 20)).adopt(epochs)
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    var probe = index.probe(Self.hash(20))
    // The probe holds the bucket's line in the image, which no longer changes.
    while index.migrateNextChunk() {}
    #expect(index.remove(Self.hash(3), address: 3))
    #expect(Self.rest(&probe) == [20])
  }

  @Test func lineUnderAPinnedProbeIsNotReused() throws {
    let epochs = EpochDomain()
    let index = try Self.chain(epochs, 15)
    index.splitsPaused = true
    let pin = epochs.enter()
    var probe = index.probe(Self.hash(15))
    for number in 8...15 { #expect(index.remove(Self.hash(number), address: UInt64(number))) }
    let before = index.memoryBytes
    // Chains come and go elsewhere: thousands of lines retired and taken.
    for round in 0..<500 {
      for number in 1...21 { #expect(index.insert(UInt64(number) << 20 | 9, address: UInt64(round * 32 + number))) }
      for number in 1...21 { #expect(index.remove(UInt64(number) << 20 | 9, address: UInt64(round * 32 + number))) }
    }
    #expect(Self.rest(&probe).isEmpty)
    #expect(!probe.isDamaged)
    #expect(!index.isDamaged)
    #expect(index.memoryBytes > before)
    epochs.exit(pin)
    // And once nobody looks, they are used again.
    epochs.synchronize()
    let grown = index.memoryBytes
    for round in 0..<500 {
      for number in 1...21 { #expect(index.insert(UInt64(number) << 20 | 9, address: UInt64(round * 32 + number))) }
      for number in 1...21 { #expect(index.remove(UInt64(number) << 20 | 9, address: UInt64(round * 32 + number))) }
    }
    #expect(index.memoryBytes <= grown + (64 << 10))
    #expect(index.checkInvariants().isEmpty)
  }
}
