import Esker

/// The entries of a file of MMKV: of each key the last value, unless it was removed behind that.
///
/// The file is a log, in which a later value of a key comes behind an earlier one. It is read three times: whether it is whole, where the
/// last value of each key is, and the values. Memory is taken for the keys.
struct MMKVSource: RecordSource {
  static let unit = "entry"

  private let numbers: MMKVNumbers
  private let file: String
  private var reading: MMKVReader?
  private var state = MMKVCompanion.State(length: 0, checksum: 0)
  private var hasExpiry = false
  private var wasEncrypted = false
  /// The number of the entry that has the last value of a key.
  private var last: [[UInt8]: Int] = [:]
  private var count = 0
  private var key: [UInt8] = []
  private var value: [UInt8] = []
  private(set) var expiry: Expiry?

  /// Looks at all of a file but the values.
  ///
  /// - Parameters:
  ///   - file: The path of the file, which the reader also reads.
  ///   - limit: The greatest length of a value.
  /// - Throws: ``ToolError/badBytes(name:offset:why:)`` if it is damaged; ``ToolError/otherFile(name:what:remedy:)`` if it is encrypted, or
  ///   lacks what belongs to it.
  init(_ file: String, _ numbers: MMKVNumbers, limit: Int) throws(ToolError) {
    self.file = file
    self.numbers = numbers
    let companion: MMKVCompanion
    do throws(ToolError) {
      companion = try MMKVCompanion(of: file, oldLength: Self.oldLength(of: file))
    } catch .noInput(let path) where path != file {
      throw ToolError.otherFile(
        name: file,
        what: "nothing that is known to be whole",
        remedy: "a file of MMKV needs the one beside it, and there is none at \(path)"
      )
    }
    (hasExpiry, wasEncrypted) = (companion.hasExpiry, companion.wasEncrypted)
    state = try Self.wholeState(of: file, companion.states)
    try findLast(limit: limit)
  }

  mutating func begin(_ reader: inout LineReader) throws {
    reading = try start(&reader)
  }

  private static func oldLength(of file: String) throws(ToolError) -> Int {
    var reader = LineReader(try InputFile(file), limit: 4, bufferSize: 4)
    guard let range = try reader.bytes(4) else {
      throw .badBytes(name: file, offset: reader.bytesConsumed, why: "the file ends early")
    }
    return reader.buffer[range].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// The first of some states that is there.
  ///
  /// - Throws: ``ToolError/badBytes(name:offset:why:)`` if none is: the file is damaged.
  private static func wholeState(
    of file: String,
    _ states: [MMKVCompanion.State]
  ) throws(ToolError) -> MMKVCompanion.State {
    for state in states {
      var reader = LineReader(try InputFile(file), limit: 1 << 16, bufferSize: 1 << 16)
      if let size = reader.remainingBytes, state.length > size - 4 { continue }
      var reading = try MMKVReader(state.length, &reader)
      try reading.skip(state.length, &reader)
      if reading.checksum.value == state.checksum {
        if state != states.first {
          StandardError.report("\(file): what was written last is damaged, and what was there before is loaded")
        }
        return state
      }
    }
    let length = states.first?.length ?? 0
    throw .badBytes(
      name: file,
      offset: length + 4,
      why: "the checksum of what comes before differs: the file is damaged"
    )
  }

  /// Finds the entry with the last value of each key.
  private mutating func findLast(limit: Int) throws(ToolError) {
    var reader = LineReader(try InputFile(file), limit: limit, bufferSize: 1 << 16)
    do throws(ToolError) {
      var reading = try start(&reader)
      var number = 0
      while reading.left > 0 {
        try Interruption.check()
        guard let length = try next(&reading, &reader) else { continue }
        number += 1
        last[key] = length == 0 ? nil : number
        try reading.skip(length, &reader)
      }
    } catch .badBytes(let name, let offset, let why) {
      // The checksum is that of the bytes as they are in the file: it fits.
      guard !wasEncrypted else { throw Self.encrypted(file) }
      throw .badBytes(name: name, offset: offset, why: why + ": the file is damaged, or encrypted")
    }
  }

  private static func encrypted(_ file: String) -> ToolError {
    .otherFile(
      name: file,
      what: "encrypted by MMKV",
      remedy: "have the program that has its key write it without one, with reKey(\"\"), and load that"
    )
  }

  /// Begins with the entries: what stands before the first one is how many bytes they once had.
  private func start(_ reader: inout LineReader) throws(ToolError) -> MMKVReader {
    var reading = try MMKVReader(state.length, &reader)
    if reading.left > 0 { _ = try reading.length(&reader) }
    return reading
  }

  /// Reads the next key, and how long its value is; nil for the empty key, which is none, and has no value.
  private mutating func next(_ reading: inout MMKVReader, _ reader: inout LineReader) throws(ToolError) -> Int? {
    let length = try reading.length(&reader)
    if length == 0 { return nil }
    guard length <= LogStore.maximumKeyLength else {
      throw reading.fault("a key of \(NumberText.count(length, "byte")), which MMKV has none of", reader)
    }
    let range = try reading.take(length, &reader)
    key.removeAll(keepingCapacity: true)
    key.append(contentsOf: reader.buffer[range])
    guard UTF8Check.isValid(ContiguousArray(key).span) || !wasEncrypted else { throw Self.encrypted(file) }
    return try reading.length(&reader)
  }

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    guard var reading else { return .end }
    defer { self.reading = reading }
    while reading.left > 0 {
      guard let length = try next(&reading, &reader) else { continue }
      count += 1
      guard last[key] == count else {
        try reading.skip(length, &reader)
        continue
      }
      guard length <= reader.limit else {
        try reading.skip(length, &reader)
        return .bad(line: count, why: reader.tooLong)
      }
      return try take(reading.take(length, &reader), reader)
    }
    guard reading.checksum.value == state.checksum else {
      throw reading.fault("the file was changed while it was read: load it once more", reader)
    }
    return .end
  }

  private mutating func take(_ range: Range<Int>, _ reader: borrowing LineReader) throws(ToolError) -> SourceStep {
    var bytes = reader.buffer[range]
    expiry = nil
    if hasExpiry {
      guard bytes.count >= 4 else {
        return .bad(line: count, why: "a value of \(NumberText.count(bytes.count, "byte")) without room for its expiry")
      }
      let seconds = bytes.suffix(4).reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
      if seconds > 0 { expiry = .at(WallTime(millisecondsSince1970: seconds * 1000)) }
      bytes = bytes.dropLast(4)
    }
    value = MMKVValue.stored(bytes, numbers)
    return .record
  }

  func number(_ reader: borrowing LineReader) -> Int { count }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    try body(ContiguousArray(key).span, ContiguousArray(value).span)
  }
}
