import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A reader looks at pages of a segment while the writer's close cuts them off, and the next writer writes there.
@Suite struct CutOffPagesTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.appending("store") }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(readOnly: Bool = false, _ events: EventLog? = nil) throws -> LogStore {
    var options = Options()
    options.segmentSize = 256 << 10
    options.merge.isAutomatic = false
    options.readOnly = readOnly
    options.onEvent = { events?.record($0) }
    return try LogStore(at: path, options: options)
  }

  private func put(_ keys: Range<Int>, to store: LogStore) throws {
    for key in keys { try store.put([UInt8](repeating: UInt8(key & 127), count: 900), forKey: "key \(key)") }
  }

  /// - Parameter last: 60 stay within the segment, 600 go on behind it, so that it is read from its footer.
  @Test(arguments: [60, 600]) func whatIsWrittenThereLaterIsSeen(last: Int) throws {
    var writer = try open()
    try put(0..<10, to: writer)
    let events = EventLog()
    let reader = try open(readOnly: true, events)
    #expect(try reader.count() == 10)
    let first = try #require(reader.probe.segments.first)
    let segment = try #require(reader.probe.hold(first.id))
    let length = segment.mappedLength
    #expect(length >= 64 << 10)
    try writer.close()
    // As a look at the end of the log does that comes right then.
    for offset in stride(from: 16 << 10, to: length, by: 4096) {
      #expect(segment.word(at: offset) == 0)
    }
    #expect(segment.isFaulted)
    writer = try open()
    try put(10..<last, to: writer)
    if last > 60 { try writer.merge() }
    try reader.refresh()
    #expect(try reader.contents() == writer.contents())
    #expect(try reader.verify().damage == [])
    #expect(events.damage.isEmpty)
    try reader.close()
    try writer.close()
  }
}
