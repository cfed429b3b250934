import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct PackedStoreDamageTests {
  /// With the checkpoint and without: a key's value is right, or an error, never an older value and never absent.
  @Test(arguments: [true, false]) func flippedBytesInPackedSegmentsNeverShowWrongValues(withCheckpoint: Bool) throws {
    let machine = Machine()
    var expected: [[UInt8]: [UInt8]] = [:]
    var store = try machine.open()
    // An older value of every key, in a segment of its own.
    for number in 0..<40 { try store.put("older value of \(number)", forKey: "key \(number)") }
    try store.probe.endTail()
    try store.close()
    store = try machine.open { $0.compression = .lz4 }
    var random = SeededGenerator(seed: 3)
    for number in 0..<40 {
      let value = PackedStore.value(number, &random)
      try store.put(value, forKey: "key \(number)")
      expected[bytes("key \(number)")] = value
    }
    try store.merge()
    try store.close()
    if !withCheckpoint { try machine.deleteCheckpoint() }
    let image = try DiskImage(of: machine)
    var damaged = 0
    for name in image.names where name.hasSuffix(".segment") {
      for offset in stride(from: withCheckpoint ? 1 : 0, to: image.files[name]?.count ?? 0, by: 7) {
        let outcome = try Self.outcome(of: image.flipping(name, offset, bit: 2), expected)
        #expect(outcome.wrong.isEmpty, "\(name) at \(offset)")
        damaged += outcome.damaged
      }
    }
    #expect(damaged > 0)
  }

  private static func outcome(
    of image: DiskImage,
    _ expected: [[UInt8]: [UInt8]]
  ) throws -> (wrong: [String], damaged: Int) {
    let machine = try image.machine()
    guard let store = try? machine.open() else { return ([], 1) }
    var wrong: [String] = []
    var damaged = 0
    for (key, value) in expected {
      do throws(StoreError) {
        if try store.get(key) != value { wrong.append(String(decoding: key, as: UTF8.self)) }
      } catch {
        if case .damaged = error { damaged += 1 } else { wrong.append("\(error)") }
      }
    }
    _ = try? store.verify()
    try? store.close()
    return (wrong, damaged)
  }
}
