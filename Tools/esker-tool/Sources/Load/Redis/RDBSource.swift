import Esker

/// The keys of an RDB file, which Redis and Valkey keep on the disk, with their instants of expiry: strings as they are, lists, sets, sorted
/// sets and hashes as JSON. The database 0 is the usual keyspace, and the database 5 the keyspace `db5`. Keys of other types are counted.
struct RDBSource: RecordSource {
  static let unit = "key"
  static let magic = Array("REDIS".utf8)

  /// Those of Redis 2.6 to 7.4.
  private static let versions = 1...12

  private var reading = RDBReader()
  private var version = 0
  private var count = 0
  private var key: [UInt8] = []
  private var value: [UInt8] = []
  private(set) var keyspace: String?
  private(set) var expiry: Expiry?

  mutating func begin(_ reader: inout LineReader) throws {
    let header = try reading.take(9, &reader)
    let text = Array(reader.buffer[header])
    guard text.starts(with: Self.magic), let version = Int(String(decoding: text[5...], as: UTF8.self)) else {
      throw reading.fault("not an RDB file, which begins with REDIS and four digits", reader)
    }
    guard Self.versions.contains(version) else {
      throw reading.fault(
        "version \(version) of the format is not known, only up to \(Self.versions.upperBound)",
        reader
      )
    }
    self.version = version
  }

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    expiry = nil
    while true {
      switch try reading.byte(&reader) {
      case 255: return try end(&reader)
      case 254:
        let database = try reading.count(&reader)
        keyspace = database == 0 ? nil : "db\(database)"
      case 253:
        let seconds = try reading.number(bytes: 4, &reader)
        expiry = .at(WallTime(millisecondsSince1970: Int64(seconds) * 1000))
      case 252:
        expiry = .at(WallTime(millisecondsSince1970: Int64(bitPattern: try reading.number(bytes: 8, &reader))))
      case 251: for _ in 0..<2 { _ = try reading.count(&reader) }
      case 250: for _ in 0..<2 { try reading.skipString(&reader) }
      case 249: try reading.skip(1, &reader)
      case 248: _ = try reading.count(&reader)
      case 247:
        _ = try reading.count(&reader)
        try reading.skipModuleValue(&reader)
      case 245: try reading.skipString(&reader)
      case 244: for _ in 0..<3 { _ = try reading.count(&reader) }
      case let number: return try entry(number, &reader)
      }
    }
  }

  private mutating func entry(_ number: UInt8, _ reader: inout LineReader) throws(ToolError) -> SourceStep {
    guard let kind = RDBKind.of(number) else { throw reading.fault("type \(number) of values is not known", reader) }
    count += 1
    let key = try reading.string(&reader)
    let value = try reading.value(kind, &reader)
    if case .notTaken(let kind) = value { return .notTaken(kind: kind) }
    guard case .bytes(let keyBytes) = key, case .bytes(let valueBytes) = value else {
      return .bad(line: count, why: reader.tooLong)
    }
    (self.key, self.value) = (keyBytes, valueBytes)
    return .record
  }

  /// Compares the checksum, unless the server was told to write none, and looks that nothing follows.
  private mutating func end(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    if version >= 5 {
      let found = reading.checksum.value
      let written = try reading.number(bytes: 8, &reader)
      guard written == 0 || written == found else {
        throw reading.fault("the checksum differs: the file is damaged", reader)
      }
    }
    // redis-cli --rdb - also prints the 40 digits by which it knows that the server has sent everything.
    if let mark = try reader.bytes(40), reader.buffer[mark].contains(where: { hexValue($0) == nil }) {
      throw reading.fault("something else behind the end of the contents", reader)
    }
    guard try reader.bytes(1) == nil else {
      throw reading.fault("something else behind the end of the contents", reader)
    }
    return .end
  }

  func number(_ reader: borrowing LineReader) -> Int { count }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    try body(ContiguousArray(key).span, ContiguousArray(value).span)
  }
}
