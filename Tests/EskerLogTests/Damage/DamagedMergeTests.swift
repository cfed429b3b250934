import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A merge leaves a segment alone that it cannot read, and says so.
@Suite struct DamagedMergeTests {
  /// A closed store in whose first segment each second record is dead, and the image of it with one live record damaged.
  private func damagedStore(
    _ isPacked: Bool
  ) throws -> (image: DiskImage, name: String, damaged: [UInt8], contents: [[UInt8]: [UInt8]]) {
    let machine = Machine()
    var random = SeededGenerator(seed: 3)
    let store = try machine.open {
      $0.compression = isPacked ? .lz4 : .off
      $0.merge.isAutomatic = false
    }
    for number in 0..<60 { try store.put(random.bytes(400), forKey: "key \(number)") }
    if isPacked { try store.merge() } else { try store.probe.endTail() }
    let first = try #require(store.statistics.segments.first { $0.isSealed })
    for number in 0..<60 where number % 2 == 1 { try store.put(random.bytes(400), forKey: "key \(number)") }
    let contents = try store.contents()
    let value = try #require(contents[bytes("key 30")])
    try store.close()
    var image = try DiskImage(of: machine)
    let name = try #require(first.path.split(separator: "/").last.map { String($0) })
    let file = try #require(image.files[name])
    let place = try #require(file.indices.first { file[$0...].starts(with: value.prefix(16)) })
    image = image.flipping(name, place + 3, bit: 2)
    return (image, name, bytes("key 30"), contents)
  }

  @Test(arguments: [false, true]) func aMergeOnDemandThrowsAndLeavesTheSegment(isPacked: Bool) throws {
    let (image, name, damaged, contents) = try damagedStore(isPacked)
    let machine = try image.machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    #expect {
      try store.merge()
    } throws: { error in
      guard case StoreError.damaged(let location, let reason) = error else { return false }
      return location.path.hasSuffix(name) && reason.contains("not merged")
    }
    // The next one passes it over.
    try store.merge()
    #expect(try machine.disk.status("/store/\(name)") != nil)
    for (key, value) in contents {
      if key == damaged {
        #expect(throws: StoreError.self) { try store.get(key) }
      } else {
        #expect(try store.get(key) == value)
      }
    }
    try store.close()
  }

  @Test(arguments: [false, true]) func aMergeInTheBackgroundSaysSoAndLeavesTheSegment(isPacked: Bool) throws {
    let (image, name, damaged, contents) = try damagedStore(isPacked)
    let machine = try image.machine()
    let log = EventLog()
    let store = try machine.open {
      $0.merge.spaceAmplification = 1.1
      $0.onEvent = { log.record($0) }
    }
    // So much is dead that everything is due.
    for round in 0..<12 {
      for number in 0..<20 { try store.put([UInt8](repeating: UInt8(round), count: 2_000), forKey: "other \(number)") }
    }
    store.probe.mergeStep()
    let failures = log.events.compactMap { event in
      if case .backgroundFailure("merge", .damaged(let location, _)) = event { location.path } else { nil }
    }
    #expect(failures.count == 1, "\(failures)")
    #expect(failures.allSatisfy { $0.hasSuffix(name) })
    #expect(try machine.disk.status("/store/\(name)") != nil)
    for (key, value) in contents where key != damaged { #expect(try store.get(key) == value) }
    #expect(throws: StoreError.self) { try store.get(damaged) }
    try store.close()
  }

  /// A write heals: what is damaged is dead then, and a merge needs it no more.
  @Test(arguments: [false, true]) func onceTheKeyIsWrittenAnewTheSegmentIsMerged(isPacked: Bool) throws {
    let (image, name, damaged, contents) = try damagedStore(isPacked)
    let machine = try image.machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    try store.put("healed", forKey: damaged)
    try store.merge()
    #expect(try machine.disk.status("/store/\(name)") == nil)
    #expect(try store.verify().isClean)
    for (key, value) in contents where key != damaged { #expect(try store.get(key) == value) }
    #expect(try store.get(damaged) == bytes("healed"))
    try store.close()
  }
}
