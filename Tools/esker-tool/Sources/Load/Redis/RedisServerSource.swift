import Esker

/// The keys of a database of a server that runs, as ``RDBSource`` gives those of its file. The server goes on meanwhile.
///
/// SCAN names the keys, and DUMP has a key's value as it stands in an RDB file, with a checksum. Memory is taken for some names of keys, and
/// for one value.
struct RedisServerSource: RecordSource {
  static let unit = "key"

  /// How many keys the server is asked for at once, and of how many it prepares the values meanwhile.
  private static let namesAtOnce = 256
  private static let valuesAtOnce = 16

  private let connection: RedisConnection
  /// Where SCAN goes on.
  private var cursor: UInt64 = 0
  private var isLastScan = false
  private var keys: [[UInt8]] = []
  /// Keys of which the answers were read, and of which they were asked for.
  private var taken = 0
  private var asked = 0
  /// Names that were longer than any key of a store.
  private var tooLong = 0
  private var count = 0
  private var value: [UInt8] = []
  /// The checksum of what tells a load of this server.
  private var identity: UInt32 = 0
  private(set) var expiry: Expiry?
  /// Whether the server says when a key expires, as Redis does since 7.0; older ones only how long it lives.
  private var tellsInstants = false

  init(_ connection: RedisConnection) {
    self.connection = connection
  }

  /// Logs in, and asks what server it is. Called once, before anything else.
  ///
  /// - Throws: ``ToolError/programFailed(_:why:)`` with what the server says.
  mutating func greet(_ reader: inout LineReader) throws(ToolError) {
    let address = connection.address
    if let password = address.password {
      try ask(["AUTH"] + (address.user.map { [$0] } ?? []) + [password], &reader)
    }
    try ask(["SELECT", "\(address.database)"], &reader)
    // Where SCAN goes on means something to this run of the server only.
    try connection.send([[Array("INFO".utf8), Array("server".utf8)]])
    let about = try connection.string(limit: 1 << 16, &reader) ?? []
    let lines = String(decoding: about, as: UTF8.self).split(whereSeparator: \.isNewline)
    let run = lines.first { $0.hasPrefix("run_id:") }
    let version = lines.first { $0.hasPrefix("redis_version:") }?.split(separator: ":").last?.prefix { $0 != "." }
    tellsInstants = version.flatMap { Int($0) }.map { $0 >= 7 } ?? false
    let identity = Array("\(address.text)\n\(run ?? "")".utf8)
    self.identity = identity.checksum(of: identity.indices)
  }

  private func ask(_ command: [String], _ reader: inout LineReader) throws(ToolError) {
    try connection.send([command.map { Array($0.utf8) }])
    try connection.expectDone(&reader)
  }

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    while true {
      if tooLong > 0 {
        tooLong -= 1
        count += 1
        return .bad(line: count, why: "the key has more than \(NumberText.count(LogStore.maximumKeyLength)) bytes")
      }
      if taken < keys.count { return try take(&reader) }
      if isLastScan { return .end }
      try scan(&reader)
    }
  }

  private mutating func scan(_ reader: inout LineReader) throws(ToolError) {
    keys.removeAll(keepingCapacity: true)
    (taken, asked) = (0, 0)
    try connection.send([["SCAN", "\(cursor)", "COUNT", "\(Self.namesAtOnce)"].map { Array($0.utf8) }])
    guard try connection.listCount(&reader) == 2,
      let next = try connection.string(limit: 32, &reader), let cursor = UInt64(String(decoding: next, as: UTF8.self))
    else { throw connection.unexpected() }
    var left = try connection.listCount(&reader)
    while left > 0 {
      if let key = try connection.string(limit: LogStore.maximumKeyLength, &reader) {
        keys.append(key)
      } else {
        tooLong += 1
      }
      left -= 1
    }
    self.cursor = cursor
    isLastScan = cursor == 0
  }

  /// Reads what the server answered about the next key.
  private mutating func take(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    if taken == asked {
      let end = min(keys.count, asked + Self.valuesAtOnce)
      // First when it expires: of a value that is replaced in between, too early is better than never.
      let when = Array((tellsInstants ? "PEXPIRETIME" : "PTTL").utf8)
      try connection.send(keys[asked..<end].flatMap { key in [[when, key], [Array("DUMP".utf8), key]] })
      asked = end
    }
    taken += 1
    let milliseconds = try connection.integer(&reader)
    let now = tellsInstants ? 0 : Options.Clock.system.now().millisecondsSince1970
    let (instant, isNever) = now.addingReportingOverflow(milliseconds)
    expiry = milliseconds < 0 || isNever ? nil : .at(WallTime(millisecondsSince1970: instant))
    guard let length = try connection.stringLength(&reader) else {
      // Removed, or expired, since its name was given.
      return .blank
    }
    count += 1
    let value = try readValue(length, &reader)
    try connection.endString(&reader)
    switch value {
    case .bytes(let bytes):
      self.value = bytes
      return .record
    case .tooLong: return .bad(line: count, why: reader.tooLong)
    case .notTaken(let kind): return .notTaken(kind: kind)
    }
  }

  /// Reads a value as DUMP writes it: its type, what an RDB file has of it, the version of that, and a checksum.
  private func readValue(_ length: Int, _ reader: inout LineReader) throws(ToolError) -> RDBReader.Value {
    let end = reader.bytesConsumed + length
    var reading = RDBReader()
    let number = try reading.byte(&reader)
    let value: RDBReader.Value
    if let kind = RDBKind.of(number) {
      value = try reading.value(kind, &reader)
    } else {
      try reading.skip(end - 10 - reader.bytesConsumed, &reader)
      value = .notTaken("key of type \(number)")
    }
    guard reader.bytesConsumed == end - 10 else { throw connection.unexpected() }
    try reading.skip(2, &reader)
    let checksum = reading.checksum.value
    let written = try reading.number(bytes: 8, &reader)
    guard written == 0 || written == checksum else { throw connection.fault("the checksum of a value differs") }
    return value
  }

  // MARK: Going on where an earlier load stopped

  /// Between two scans.
  func place(_ reader: borrowing LineReader) -> LoadPlace? {
    guard taken == keys.count, tooLong == 0, !isLastScan else { return nil }
    return LoadPlace(bytes: Int(truncatingIfNeeded: cursor), lines: 0, checksum: identity)
  }

  mutating func resume(at place: LoadPlace, _ reader: inout LineReader, _ progress: (Int) throws(ToolError) -> Void)
    -> Bool
  {
    cursor = UInt64(UInt(bitPattern: place.bytes))
    return place.checksum == identity
  }

  func number(_ reader: borrowing LineReader) -> Int { count }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    let key = keys[taken - 1]
    try body(ContiguousArray(key).span, ContiguousArray(value).span)
  }
}
