import EskerTestSupport
import Foundation
import Testing

@testable import esker_tool

/// Files that the real MMKV has written.
@Suite struct MMKVTests {
  @Test(arguments: [
    ("bytes", "-7", false), ("integers", "-7", true), ("doubles", "-7", true),
  ]) func theLastValuesAreLoaded(_ numbers: String, _ negative: String, _ areDigits: Bool) throws {
    let scratch = try Scratch()
    let file = try SampleMMKV.plain.write(scratch, as: "mmkv.default")
    let options = numbers == "bytes" ? [] : ["--numbers", numbers]
    let plan = try scratch.run(["import", scratch.store, file, "--dry-run"] + options)
    #expect(plan.status == 0 && plan.errors.hasPrefix("would load 12 records"), "\(plan.errors)")
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
    let load = try scratch.run(["import", scratch.store, file] + options)
    #expect(load.status == 0 && load.errors.hasPrefix("loaded 12 records"), "\(load.errors)")
    func value(_ key: String) throws -> [UInt8] { Array(try scratch.run("get", scratch.store, key, "--raw").output) }
    // The first one was replaced; what was removed is not there.
    #expect(try value("at") == Array("Wien".utf8) && value("fr") == Array("Paris".utf8))
    #expect(try value("bytes") == [0, 0xFF, 1])
    #expect(try scratch.run("exists", scratch.store, "de").status == 1)
    func expect(_ key: String, _ text: String, _ bytes: [UInt8], _ place: SourceLocation = #_sourceLocation) throws {
      let wanted = areDigits ? Array(text.utf8) : bytes
      #expect(try value(key) == wanted, "\(key)", sourceLocation: place)
    }
    try expect("small", "300", [0xAC, 2])
    try expect("i32", negative, [0xF9, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1])
    try expect("i64", "1234567890123", [0xCB, 0x89, 0xEC, 0x8F, 0xF7, 0x23])
    try expect("yes", "1", [1])
    // An empty text, and false, are the same byte.
    try expect("no", "0", [])
    try expect("empty", "0", [])
    try expect("float", "\0\0 @", [0, 0, 0x20, 0x40])
    let five = Array(numbers == "doubles" ? "5.0".utf8.map { $0 } : [0, 0, 0, 0, 0, 0, 0x14, 0x40])
    #expect(try value("five") == five)
    // With integers, eight bytes that may be one are one.
    let ratio: [UInt8] =
      switch numbers {
      case "doubles": Array("0.1".utf8)
      case "integers": Array("35717401473862810".utf8)
      default: [0x9A, 0x99, 0x99, 0x99, 0x99, 0x99, 0xB9, 0x3F]
      }
    #expect(try value("ratio") == ratio)
  }

  @Test func instantsOfExpiryAreKept() throws {
    let scratch = try Scratch()
    let load = try scratch.run("import", scratch.store, try SampleMMKV.expiring.write(scratch, as: "cache"))
    #expect(
      load.status == 0 && load.errors.contains("loaded 4 records") && load.errors.contains("; 1 expired"),
      "\(load.errors)"
    )
    #expect(
      try scratch.run("list", scratch.store, "--expires", "--sort", "key").lines.map { $0.replacing("\t", with: " ") }
        == [
          "before never", "never never", "number 2090-04-17T08:28:05.000Z", "session 2090-04-17T08:28:05.000Z",
        ]
    )
    #expect(try scratch.run("get", scratch.store, "session").text == "token")
  }

  @Test func whatIsEncryptedIsTold() throws {
    let scratch = try Scratch()
    let file = try SampleMMKV.sealed.write(scratch, as: "sealed")
    let load = try scratch.run("import", scratch.store, file)
    #expect(load.status == 64 && load.errors.hasPrefix("esker: \(file) is encrypted by MMKV: "), "\(load.errors)")
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
    let unsealed = try SampleMMKV.unsealed.write(scratch, as: "unsealed")
    #expect(try scratch.run("import", scratch.store, unsealed).errors.hasPrefix("loaded 13 records"))
    #expect(try scratch.run("get", scratch.store, "late").text == "later")
  }

  @Test func aFileIsOneOfMMKVByWhatIsBesideIt() throws {
    let scratch = try Scratch()
    let sample = SampleMMKV.plain
    let alone = try scratch.file("alone", sample.entries)
    let told = try scratch.run("import", scratch.store, alone, "--format", "mmkv")
    #expect(told.status == 64 && told.errors.contains("there is none at \(alone).crc"), "\(told.errors)")
    #expect(try scratch.run("import", scratch.store, alone).status == 64)
    let named = try sample.write(scratch, as: "settings.db")
    #expect(try scratch.run("import", scratch.store, named, "--format", "mmkv").status == 0)
    #expect(try scratch.run("import", scratch.store, "-", "--format", "mmkv").status == 64)
    #expect(try scratch.run("import", scratch.store, named, "--format", "mmkv", "--resume").status == 64)
    let lines = try scratch.file("lines", #"{"id":1}"#.utf8)
    let wrong = try scratch.run("import", scratch.store, lines, "--key-field", "id", "--numbers", "doubles")
    #expect(wrong.status == 64 && wrong.errors.contains("--numbers goes with a file of MMKV"), "\(wrong.errors)")
  }

  @Test func whatIsDamagedIsNotLoaded() throws {
    let scratch = try Scratch()
    let sample = SampleMMKV.plain
    var entries = sample.entries
    entries[40] ^= 1
    _ = try scratch.file("damaged.crc", sample.companion)
    let file = try scratch.file("damaged", entries)
    let load = try scratch.run("import", scratch.store, file)
    #expect(
      load.status == 1
        && load.errors
          == "esker: byte 171 of \(file): the checksum of what comes before differs: the file is damaged\n",
      "\(load.errors)"
    )
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func whatIsTooLongIsLeftOutIfAsked() throws {
    let scratch = try Scratch()
    let (entries, companion) = MMKVFile([("long", Array(repeating: 0x61, count: 2000)), ("at", [1, 0x62])]).files
    _ = try scratch.file("m.crc", companion)
    let file = try scratch.file("m", entries)
    let refused = try scratch.run("import", scratch.store, file, "--max-line", "1kB")
    #expect(refused.status == 1 && refused.errors.contains("entry 1: longer than 1,000 bytes"), "\(refused.errors)")
    let skipped = try scratch.run("import", scratch.store, file, "--max-line", "1kB", "--skip-bad")
    #expect(skipped.status == 0 && skipped.errors.hasSuffix("; 1 bad line skipped\n"), "\(skipped.errors)")
    #expect(try scratch.run("list", scratch.store).text == "at\n")
  }
}

/// Writes entries as MMKV does.
private struct MMKVFile {
  var contents: [UInt8] = [0xFF, 0xFF, 0xFF, 7]
  var flags: UInt8 = 0

  init(_ entries: [(String, [UInt8])]) {
    for (key, value) in entries {
      add(Array(key.utf8))
      add(value)
    }
  }

  init(contents: [UInt8]) {
    self.contents = contents
  }

  mutating func add(_ bytes: [UInt8]) {
    var length = bytes.count
    while length >= 0x80 {
      contents.append(UInt8(length & 0x7F | 0x80))
      length >>= 7
    }
    contents.append(UInt8(length))
    contents += bytes
  }

  var files: (entries: [UInt8], companion: [UInt8]) {
    var checksum = CRC32()
    checksum.add(ContiguousArray(contents).span)
    func bytes(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    var companion = [UInt8](repeating: 0, count: 112)
    companion.replaceSubrange(0..<8, with: bytes(Int(checksum.value)) + bytes(4))
    companion.replaceSubrange(28..<32, with: bytes(contents.count))
    companion[104] = flags
    return ([0, 0, 0, 0] + contents + [0, 0, 0], companion)
  }
}

/// Files whose bytes are not what MMKV has written.
@Suite struct MMKVSourceTests {
  /// What a source gives, up to its end or its error.
  private func read(_ entries: [UInt8], _ companion: [UInt8]) throws -> (found: [[UInt8]: [UInt8]], error: ToolError?) {
    let scratch = try Scratch()
    _ = try scratch.file("m.crc", companion)
    let file = try scratch.file("m", entries)
    var found: [[UInt8]: [UInt8]] = [:]
    do {
      var reader = LineReader(try InputFile(file), limit: 1 << 20, bufferSize: 64)
      var source = try MMKVSource(file, .bytes, limit: 1 << 20)
      try source.begin(&reader)
      while true {
        switch try source.next(&reader) {
        case .end: return (found, nil)
        case .blank, .notTaken: break
        case .bad(_, let why): throw ToolError.badLine(number: 0, why: why)
        case .record:
          try source.withRecord(reader) { key, value in
            #expect(found.updateValue([UInt8](copying: value), forKey: [UInt8](copying: key)) == nil)
          }
        }
      }
    } catch let error as ToolError {
      return (found, error)
    }
  }

  @Test func ofManyWritesTheLastOnesCount() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(state: seed)
    for _ in 0..<20 {
      var model: [[UInt8]: [UInt8]] = [:]
      var file = MMKVFile([])
      for _ in 0..<Int.random(in: 0..<300, using: &random) {
        let key = Array("key\(Int.random(in: 0..<40, using: &random))".utf8)
        // A float is neither text nor a whole number.
        let value: [UInt8] =
          Bool.random(using: &random) ? [0x80, 0, UInt8.random(in: 0...255, using: &random), 0x40] : []
        file.add(key)
        file.add(value)
        model[key] = value.isEmpty ? nil : value
      }
      let (entries, companion) = file.files
      let (found, error) = try read(entries, companion)
      #expect(error == nil && found == model, "seed \(seed)")
    }
  }

  @Test func everyFlippedBitAndEveryPrefixIsSeen() throws {
    let sample = SampleMMKV.plain
    let length = 167 + 4
    for place in 4..<length {
      var changed = sample.entries
      changed[place] ^= 1 << UInt8(place % 8)
      guard case .badBytes = try read(changed, sample.companion).error else {
        Issue.record("byte \(place)")
        continue
      }
    }
    for end in 0..<length {
      guard case .badBytes = try read(Array(sample.entries[..<end]), sample.companion).error else {
        Issue.record("the first \(end) bytes")
        continue
      }
    }
    for end in 0..<112 {
      guard case .badBytes(_, let offset, _) = try read(sample.entries, Array(sample.companion[..<end])).error else {
        Issue.record("the first \(end) bytes of the companion")
        continue
      }
      #expect(offset == end)
    }
    // Checksum, version, length and flags; all else says nothing of entries that are not encrypted.
    for place in [0, 3, 5, 28, 29, 31, 105, 111] {
      var changed = sample.companion
      changed[place] ^= 0x40
      #expect(try read(sample.entries, changed).error != nil, "byte \(place) of the companion")
    }
  }

  @Test func whatWasSyncedIsLoadedIfTheRestIsDamaged() throws {
    let file = MMKVFile([("at", [6] + Array("Vienna".utf8))])
    var (entries, companion) = file.files
    companion.replaceSubrange(32..<36, with: companion[28..<32])
    companion.replaceSubrange(36..<40, with: companion[0..<4])
    // More was written than is there.
    companion[28] += 3
    entries += [1, 2, 3]
    let (found, error) = try read(entries, companion)
    #expect(error == nil && found == [Array("at".utf8): Array("Vienna".utf8)])
  }

  @Test func lengthsAreNotBelieved() throws {
    for (body, why): ([UInt8], String) in [
      ([0xFF, 0xFF, 0xFF], "where only 0 are left"), ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], "a length that no entry has"),
      ([0, 0x05, 0x61], "5 bytes where only 1 are left"), ([0, 1, 0x61], "where only 0 are left"),
      ([0, 1, 0x61, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], "a length that no entry has"),
      ([0, 1, 0x61, 0xFF, 0xFF, 0xFF, 0xFF, 7], "bytes where only 0 are left"),
      ([0, 0x80, 0x80, 4, 0], "a key of 65,536 bytes"),
    ] {
      let (entries, companion) = MMKVFile(contents: body).files
      guard case .badBytes(_, let offset, let said) = try read(entries, companion).error else {
        Issue.record("\(body)")
        continue
      }
      #expect(said.contains(why) && offset <= body.count + 4, "\(said)")
    }
    var file = MMKVFile([("k", [1, 2, 3])])
    file.flags = 1
    let (entries, companion) = file.files
    guard case .badLine(_, let why, _) = try read(entries, companion).error else {
      Issue.record("a value without room for its expiry")
      return
    }
    #expect(why == "a value of 3 bytes without room for its expiry")
  }

  @Test func theChecksumIsThatOfGzip() {
    var checksum = CRC32()
    checksum.add(ContiguousArray("123456789".utf8).span)
    #expect(checksum.value == 0xCBF4_3926)
  }

  @Test func textIsToldFromNumbers() {
    func stored(_ bytes: [UInt8], _ numbers: MMKVNumbers) -> String {
      String(decoding: MMKVValue.stored(bytes[...], numbers), as: UTF8.self)
    }
    // Seven letters, which are also a number with a fraction.
    let letters = [7] + Array("letters".utf8)
    for numbers in MMKVNumbers.allCases { #expect(stored(letters, numbers) == "letters") }
    #expect(stored([7, 0xFF, 0, 0, 0, 0, 0x14, 0x40], .doubles) == "5.0000000000579865")
    #expect(stored([0, 0, 0, 0, 0, 0, 0xF0, 0x7F], .doubles) == "inf")
    #expect(stored([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], .integers) == "9223372036854775807")
    #expect(stored([], .integers) == "")
    let long = Array(repeating: UInt8(0x61), count: 300)
    #expect(MMKVValue.stored(([0xAC, 2] + long)[...], .bytes) == long)
  }
}
