import EskerIndex
import EskerPlatform
import Testing

/// Images: export, adoption, migration, damage.
@Suite(.serialized) struct HashIndexImageTests {
  static func filled(_ count: Int) throws -> HashIndex {
    let index = try makeIndex()
    for key in 1...count { #expect(index.insert(SplitMix.mix(UInt64(key)), address: UInt64(key))) }
    return index
  }

  static func expectHolds(_ index: HashIndex, _ keys: ClosedRange<Int>) {
    var missing = 0
    for key in keys where !index.candidates(SplitMix.mix(UInt64(key))).contains(UInt64(key)) { missing += 1 }
    #expect(missing == 0)
    #expect(!index.isDamaged)
  }

  @Test(arguments: [1, 20_000, 200_000])
  func adoptedImageHoldsWhatWasExported(count: Int) throws {
    let source = try Self.filled(count)
    let index = try ImageBuffers(exporting: source).adopt()
    #expect(index.count == count)
    #expect(index.bucketCount == source.bucketCount)
    #expect(index.level == source.level)
    #expect(index.splitPointer == source.splitPointer)
    #expect(index.overflowLineCount == source.overflowLineCount)
    Self.expectHolds(index, 1...count)
    for key in count + 1...count + 1000 { #expect(!index.candidates(SplitMix.mix(UInt64(key))).contains(UInt64(key))) }
    #expect(index.checkInvariants().isEmpty)
  }

  @Test func exportOfAnAdoptedImageIsTheSameImage() throws {
    let first = try ImageBuffers(exporting: Self.filled(30_000))
    let second = try ImageBuffers(exporting: first.adopt())
    #expect(Array(first.main) == Array(second.main))
    #expect(Array(first.overflow) == Array(second.overflow))
    #expect(Array(first.checksums) == Array(second.checksums))
  }

  @Test(arguments: [false, true])
  func writesGoOnAfterAdoptionAndThroughMigration(isMigratedFirst: Bool) throws {
    let index = try ImageBuffers(exporting: Self.filled(200_000)).adopt()
    if isMigratedFirst {
      while index.migrateNextChunk() {}
      #expect(!index.needsMigration)
    }
    for key in 200_001...300_000 {
      #expect(index.insert(SplitMix.mix(UInt64(key)), address: UInt64(key)))
      if key == 250_000 {
        index.prepareMigration()
        index.migrateNextChunk()
      }
    }
    for key in stride(from: 1, through: 300_000, by: 2) {
      #expect(index.remove(SplitMix.mix(UInt64(key)), address: UInt64(key)))
    }
    #expect(index.count == 150_000)
    #expect(index.checkInvariants().isEmpty)
    while index.migrateNextChunk() { index.prepareMigration() }
    #expect(!index.needsMigration)
    #expect(!index.isDamaged)
    #expect(index.checkInvariants().isEmpty)
    for key in 1...300_000 {
      #expect(index.candidates(SplitMix.mix(UInt64(key))).contains(UInt64(key)) == (key % 2 == 0))
    }
  }

  @Test func imageIsReleasedOnceMigratedAndUnread() throws {
    let before = ImageBuffers.alive.load(ordering: .relaxed)
    let epochs = EpochDomain()
    let index = try ImageBuffers(exporting: Self.filled(30_000)).adopt(epochs)
    #expect(ImageBuffers.alive.load(ordering: .relaxed) == before + 1)
    let pin = epochs.enter()
    while index.migrateNextChunk() {}
    epochs.collect()
    #expect(ImageBuffers.alive.load(ordering: .relaxed) == before + 1)
    epochs.exit(pin)
    // Other tests' readers are pinned in the same process.
    epochs.synchronize()
    epochs.collect()
    #expect(ImageBuffers.alive.load(ordering: .relaxed) == before)
    Self.expectHolds(index, 1...30_000)
  }

  @Test func inconsistentNumbersAreRefused() throws {
    let buffers = try ImageBuffers(exporting: Self.filled(30_000))
    func isRefused(_ change: (inout IndexImage) -> Void) -> Bool {
      var image = buffers.image
      change(&image)
      return HashIndex(epochs: .shared, image: image) == nil
    }
    #expect(!isRefused { _ in })
    #expect(isRefused { $0.bucketCount = 0 })
    #expect(isRefused { $0.bucketCount = -1 })
    #expect(isRefused { $0.bucketCount = .max })
    #expect(isRefused { $0.bucketCount += 64 })
    #expect(isRefused { $0.overflowLineCount = 0 })
    #expect(isRefused { $0.overflowLineCount = .max })
    #expect(isRefused { $0.overflowLineCount += 64 })
    #expect(isRefused { $0.entryCount = -1 })
    #expect(isRefused { $0.entryCount = .max })
    #expect(isRefused { $0.pageChecksums = UnsafeRawBufferPointer(rebasing: $0.pageChecksums.dropLast(4)) })
    #expect(isRefused { $0.main = UnsafeMutableRawBufferPointer(rebasing: $0.main.dropLast(4096)) })
  }

  /// One bit of every byte in some pages, and of every page checksum.
  @Test func damagedByteIsFoundWhereverItIsTouchedAndNowhereElse() throws {
    let buffers = try ImageBuffers(exporting: Self.filled(30_000))
    let pages = (buffers.main.count + buffers.overflow.count) / 4096
    var undetected = 0
    var spread = 0
    func check(_ page: Int, _ flip: () -> Void) throws {
      flip()
      defer { flip() }
      let index = try buffers.adopt()
      // Everything that does not touch the page is found, everything else says that it is damaged.
      var damaged = 0
      for key in stride(from: 1, through: 30_000, by: 211) {
        var probe = index.probe(SplitMix.mix(UInt64(key)))
        var isFound = false
        while let address = probe.next() { isFound = isFound || address == UInt64(key) }
        if probe.isDamaged { damaged += 1 } else if !isFound { spread += 1 }
      }
      let isWhole = index.forEachEntry(inBuckets: 0..<index.bucketCount) { _ in }
      // The reserved line's page and a page of padding may not be touched at all.
      if isWhole && page < buffers.main.count / 4096 { undetected += 1 }
      if damaged > 0 && !index.isDamaged { undetected += 1 }
    }
    var random = SplitMix(seed: 5)
    for _ in 0..<200 {
      let offset = Int.random(in: 0..<buffers.main.count + buffers.overflow.count, using: &random)
      let section = offset < buffers.main.count ? buffers.main : buffers.overflow
      let inSection = offset < buffers.main.count ? offset : offset - buffers.main.count
      let bit = UInt8(1) << UInt8(offset % 8)
      try check(offset / 4096) { section[inSection] ^= bit }
    }
    for page in 0..<pages { try check(page) { buffers.checksums[page * 4 + page % 4] ^= 0x10 } }
    #expect(undetected == 0)
    #expect(spread == 0)
  }

  /// Nobody has looked at it before.
  @Test func damagedPageIsNotMigrated() throws {
    let buffers = try ImageBuffers(exporting: Self.filled(30_000))
    buffers.main[4096 + 100] ^= 1
    let index = try buffers.adopt()
    while index.migrateNextChunk() {}
    #expect(index.isDamaged)
  }

  /// Contents that checksums vouch for and that are still nonsense must not trap, hang or eat memory.
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func nonsenseWithRightChecksumsIsHarmless(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SplitMix(seed: seed)
    let buffers = try ImageBuffers(exporting: Self.filled(30_000))
    for _ in 0..<300 {
      // Links mostly: to any line, to itself, to another chain's, out of range.
      let isMain = Bool.random(using: &random)
      let section = isMain ? buffers.main : buffers.overflow
      let line = Int.random(in: 0..<section.count / 64, using: &random)
      let link = UInt32.random(in: 0..<UInt32(buffers.overflowLineCount + 5), using: &random)
      section.storeBytes(
        of: seed == 4 ? random.next() : UInt64(link) << 32,
        toByteOffset: line * 64 + 56,
        as: UInt64.self
      )
      if seed % 2 == 0 {
        let word = Int.random(in: 0..<7, using: &random)
        section.storeBytes(of: random.next(), toByteOffset: line * 64 + word * 8, as: UInt64.self)
      }
    }
    buffers.seal()
    let index = try buffers.adopt()
    let memory = index.memoryBytes
    for key in 1...60_000 {
      let hash = SplitMix.mix(UInt64(key))
      _ = index.candidates(hash)
      if key > 30_000 {
        _ = index.insert(hash, address: UInt64(key))
      } else {
        _ = index.remove(hash, address: UInt64(key))
      }
      if key % 10_000 == 0 { index.migrateNextChunk() }
    }
    _ = index.checkInvariants()
    #expect(index.isDamaged)
    #expect(index.memoryBytes < memory + (8 << 20))
  }

  @Test func lineThatTwoBucketsLinkToIsDamage() throws {
    let source = try makeIndex()
    for address in 1...10 { #expect(source.insert(UInt64(address) << 20, address: UInt64(address))) }
    let buffers = try ImageBuffers(exporting: source)
    buffers.main.storeBytes(of: UInt64(1) << 32, toByteOffset: 64 + 56, as: UInt64.self)
    buffers.seal()
    let index = try buffers.adopt()
    #expect(index.candidates(10 << 20) == [10])
    #expect(!index.isDamaged)
    var probe = index.probe(1 | 10 << 20)
    #expect(probe.next() == nil)
    #expect(probe.isDamaged)
    #expect(index.isDamaged)
    #expect(index.candidates(10 << 20) == [10])
  }

  @Test func circularChainEndsAsDamage() throws {
    let source = try makeIndex()
    for address in 1...30 { #expect(source.insert(0, address: UInt64(address))) }
    let buffers = try ImageBuffers(exporting: source)
    // The chain's last line leads back to its first.
    let last = (buffers.overflowLineCount - 1) * 64
    buffers.overflow.storeBytes(of: UInt64(1) << 32, toByteOffset: last + 56, as: UInt64.self)
    buffers.seal()
    let index = try buffers.adopt()
    var probe = index.probe(0)
    while probe.next() != nil {}
    #expect(probe.isDamaged)
    #expect(probe.next() == nil)
    #expect(index.isDamaged)
    #expect(!index.insert(0, address: 99))
    #expect(!index.remove(0, address: 1 << 30))
    #expect(index.candidates(1 << 4).isEmpty)
  }
}
