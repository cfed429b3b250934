import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A manifest that is made while the log goes on from one spare to the next shows the segments as they all were at one moment.
@Suite struct ManifestMomentTests {
  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 10_000)
  }

  private static func put(_ store: LogStore, _ numbers: Range<Int>) throws {
    for number in numbers { try store.put(value(number), forKey: "key \(number)") }
  }

  private static func open(_ machine: Machine, readOnly: Bool = false, _ log: EventLog = EventLog()) throws -> LogStore
  {
    try machine.open {
      $0.capacity = 4 << 20
      $0.readOnly = readOnly
      $0.onEvent = { log.record($0) }
    }
  }

  /// What a killed process leaves whose last manifest was made while three spares were filled: two behind the look at the first of
  /// them, and one behind the look at the second.
  private struct Killed {
    let expected: [[UInt8]: [UInt8]]
    let last: SequenceNumber
    var image: DiskImage
    /// The file of each of the spares, and the number that it begins with.
    let filled: [(name: String, first: UInt64)]

    init() throws {
      var machine = Machine()
      let store = try open(machine)
      store.probe.stopBackground()
      try put(store, 0..<3)
      store.probe.prepareSpare()
      let spares = store.probe.spares.map(\.id)
      try #require(spares.count > 4)
      var next = 3
      let rows = try store.probe.rows { id in
        guard id == spares[0] || id == spares[1] else { return }
        let goal = id == spares[0] ? spares[2] : spares[3]
        while store.probe.tailID != goal {
          try put(store, next..<next + 1)
          next += 1
          try #require(next < 1000)
        }
      }
      try put(store, next..<next + 1)
      expected = try store.contents()
      last = store.lastSequence
      let figures = store.probe.segments
      filled = spares.prefix(4).map { id in
        (FileName.segment(id), figures.first { $0.id == id }?.firstSequence ?? 0)
      }
      machine.disk = try machine.disk.processKilled()
      image = try DiskImage(of: machine)
      for name in FileName.manifests {
        let bytes = try #require(image.files[name])
        var manifest = try Manifest(decoding: ContiguousArray(bytes).span.bytes)
        try #require(Set(manifest.segments.map(\.id)) == Set(rows.map(\.id)), "all of them are listed already")
        manifest.segments = rows
        image.files[name] = manifest.encoded()
      }
      withExtendedLifetime(store) {}
    }
  }

  @Test(arguments: [false, true]) func whatWasWrittenMeanwhileIsAllThere(readOnly: Bool) throws {
    let killed = try Killed()
    let log = EventLog()
    let opened = try Self.open(try killed.image.machine(), readOnly: readOnly, log)
    #expect(opened.lastSequence == killed.last)
    #expect(try opened.contents() == killed.expected)
    #expect(log.damage.isEmpty, "\(log.events)")
    #expect(!log.events.contains { if case .cut = $0 { true } else { false } })
  }

  /// Of the spares that were filled, one did not reach the disk before a power failure. The next one did.
  @Test(arguments: [0, 1, 2], [false, true]) func nothingIsShownBehindWhatIsLost(lost: Int, readOnly: Bool) throws {
    var killed = try Killed()
    let (name, first) = killed.filled[lost]
    let length = try #require(killed.image.files[name]).count
    killed.image.files[name]?.replaceSubrange(
      SegmentHeader.length...,
      with: [UInt8](repeating: 0, count: length - SegmentHeader.length)
    )
    let opened = try Self.open(try killed.image.machine(), readOnly: readOnly)
    #expect(opened.lastSequence.rawValue == first - 1)
    let contents = try opened.contents()
    #expect(contents.count == Int(first) - 1, "one write each")
    #expect(contents.allSatisfy { killed.expected[$0.key] == $0.value })
  }
}
