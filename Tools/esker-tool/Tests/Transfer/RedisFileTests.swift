import EskerTestSupport
import Foundation
import Testing

@testable import esker_tool

/// Files that the real Redis has written.
@Suite(.needs("redis-server", "redis-cli", package: "redis-server")) struct RedisFileTests {
  static let commands = [
    "set at Vienna", "set n8 -7", "set n16 1234", "set n32 -123456789", "set n64 1234567890123", #"set empty """#,
    "set long " + String(repeating: "the-same-", count: 100), #"set "\x00\xff" "\r\n\x00""#,
    "set session token pxat 4102444800001", "rpush list a b c", "sadd ints 1 2 3", "sadd texts a b",
    "zadd scores 1 a 2.5 b inf c", "hset h f v g w",
    "rpush biglist " + (0..<300).map { String(repeating: "x", count: 100) + "\($0)" }.joined(separator: " "),
    "sadd bigset " + (0..<600).map { "m\($0)" }.joined(separator: " "),
    "zadd bigz " + (0..<600).map { "\($0).5 m\($0)" }.joined(separator: " "),
    "hset bigh " + (0..<600).map { "f\($0) v\($0)" }.joined(separator: " "), "xadd st 1-1 a b", "xadd st 2-1 c d",
    "xgroup create st g 0", "xreadgroup group g alice count 1 streams st >", #"rpush binary "\xff\x00" x"#,
    #"hset other "\xff" v"#, "select 5", "set at Linz", "select 0",
  ]

  static func check(_ store: String, _ scratch: Scratch) throws {
    #expect(try scratch.run("count", store).text == "19\n")
    #expect(
      try scratch.run("get", store, "list", "scores", "binary").lines.map { $0.replacing("\t", with: " ") } == [
        #"list ["a","b","c"]"#, #"scores {"a":1,"b":2.5,"c":{"$float":"inf"}}"#, #"binary [{"$base64":"/wA="},"x"]"#,
      ]
    )
    func json<T>(_ key: String, as: T.Type) throws -> T {
      try #require(try JSONSerialization.jsonObject(with: scratch.run("get", store, key).output) as? T)
    }
    #expect(
      try json("biglist", as: [String].self) == (0..<300).map { String(repeating: "x", count: 100) + "\($0)" }
    )
    #expect(try Set(json("texts", as: [String].self)) == ["a", "b"])
    #expect(try Set(json("ints", as: [String].self)) == ["1", "2", "3"])
    #expect(try json("h", as: [String: String].self) == ["f": "v", "g": "w"])
    #expect(try Set(json("bigset", as: [String].self)) == Set((0..<600).map { "m\($0)" }))
    let scores = Dictionary(uniqueKeysWithValues: (0..<600).map { ("m\($0)", Double($0) + 0.5) })
    #expect(try json("bigz", as: [String: Double].self) == scores)
    #expect(try scratch.run("get", store, "bigz").text.hasPrefix(#"{"m0":0.5,"m1":1.5,"#))
    let fields = Dictionary(uniqueKeysWithValues: (0..<600).map { ("f\($0)", "v\($0)") })
    #expect(try json("bigh", as: [String: String].self) == fields)
    #expect(
      try scratch.run("get", store, "at", "n8", "n16", "n32", "n64").text
        == "at\tVienna\nn8\t-7\nn16\t1234\nn32\t-123456789\nn64\t1234567890123\n"
    )
    #expect(try scratch.run("get", store, "long").text == String(repeating: "the-same-", count: 100))
    #expect(try scratch.run("get", store, "00ff", "--key-encoding", "hex").output == Data([13, 10, 0]))
    #expect(try scratch.run("get", store, "empty").output.isEmpty)
    #expect(
      try scratch.run("list", store, "--expires", "--match", "session").text == "session\t2100-01-01T00:00:00.001Z\n"
    )
  }

  static let others = "; not loaded: 1 non-text hash key, 1 stream key\n"

  private func check(_ store: String, _ scratch: Scratch) throws {
    try Self.check(store, scratch)
    #expect(try scratch.run("list", store, "--values", "--keyspace", "db5").text == "at\tLinz\n")
  }

  @Test(arguments: ["", "no"]) func keysAreLoaded(_ checksum: String) throws {
    let server = try RedisServer("--rdbchecksum", checksum.isEmpty ? "yes" : checksum)
    let scratch = server.scratch
    let file = try server.file(Self.commands)
    let plan = try scratch.run("load", scratch.store, file, "--dry-run")
    #expect(
      plan.status == 0 && plan.errors.hasPrefix("would load 20 records") && plan.errors.hasSuffix(Self.others),
      "\(plan.errors)"
    )
    let load = try scratch.run("load", scratch.store, file)
    #expect(
      load.status == 0 && load.errors.hasPrefix("loaded 20 records") && load.errors.hasSuffix(Self.others),
      "\(load.errors)"
    )
    try check(scratch.store, scratch)
    // From a server that runs, and a file that is compressed.
    try scratch.succeed(
      "redis-cli -s s --rdb - 2> /dev/null | \"$0\" import live - && gzip -k dump.rdb && \"$0\" import packed dump.rdb.gz"
    )
    try check(scratch.path("live"), scratch)
    try check(scratch.path("packed"), scratch)
  }

  @Test func olderFormsAreLoaded() throws {
    // What is not compressed, and not kept in one piece, however small it is.
    let server = try RedisServer(
      "--rdbcompression",
      "no",
      "--list-max-listpack-size",
      "1",
      "--hash-max-listpack-entries",
      "0",
      "--zset-max-listpack-entries",
      "0",
      "--set-max-intset-entries",
      "0"
    )
    let scratch = server.scratch
    let load = try scratch.run("load", scratch.store, try server.file(Self.commands))
    #expect(load.status == 0 && load.errors.hasSuffix(Self.others), "\(load.errors)")
    try check(scratch.store, scratch)
  }

  @Test func whatIsDamagedIsNotLoaded() throws {
    let server = try RedisServer()
    let scratch = server.scratch
    var bytes = try Data(contentsOf: URL(fileURLWithPath: server.file(["set at Vienna", "set de Berlin"])))
    let place = try #require(bytes.firstRange(of: Data("Berlin".utf8)))
    bytes[place.lowerBound] ^= 1
    let file = try scratch.file("damaged.rdb", bytes)
    let load = try scratch.run("load", scratch.store, file)
    #expect(
      load.status == 1
        && load.errors == "esker: byte \(bytes.count) of \(file): the checksum differs: the file is damaged\n",
      "\(load.errors)"
    )
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func whatIsTooLongIsLeftOutIfAsked() throws {
    let server = try RedisServer()
    let scratch = server.scratch
    let file = try server.file(["set long " + String(repeating: "abcdefghij", count: 200), "set at Vienna"])
    let refused = try scratch.run("load", scratch.store, file, "--max-line", "1kB")
    #expect(
      refused.status == 1 && refused.errors.contains("longer than 1,000 bytes: see --max-line"),
      "\(refused.errors)"
    )
    let skipped = try scratch.run("load", scratch.store, file, "--max-line", "1kB", "--skip-bad")
    #expect(skipped.status == 0 && skipped.errors.hasSuffix("; 1 bad line skipped\n"), "\(skipped.errors)")
    #expect(skipped.errors.split(separator: "\n").count == 2, "\(skipped.errors)")
    #expect(try scratch.run("list", scratch.store).text == "at\n")
    #expect(try scratch.run("load", scratch.store, file, "--resume").status == 64)
  }
}

/// RDB files whose bytes are not what a server has written.
@Suite struct RDBSourceTests {
  /// Made by Redis 7.0: strings of all encodings, an expiry, a list, a sorted set, and another database.
  private static let file = SampleRDB.bytes

  /// What a source gives, up to its end or its error.
  private func read(_ bytes: [UInt8]) throws -> (keys: [String], others: Int, error: ToolError?) {
    let scratch = try Scratch()
    var reader = LineReader(try InputFile(scratch.file("in", bytes)), limit: 1 << 20, bufferSize: 64)
    var source = RDBSource()
    var (keys, others): ([String], Int) = ([], 0)
    do {
      try source.begin(&reader)
      while true {
        switch try source.next(&reader) {
        case .end: return (keys, others, nil)
        case .blank: break
        case .bad(_, let why): throw ToolError.badLine(number: 0, why: why)
        case .notTaken: others += 1
        case .record:
          try source.withRecord(reader) { key, value in
            keys.append(
              String(decoding: [UInt8](copying: key) + [0x3D] + [UInt8](copying: value).prefix(12), as: UTF8.self)
            )
          }
        }
      }
    } catch let error as ToolError {
      return (keys, others, error)
    }
  }

  @Test func theSampleIsRead() throws {
    let (keys, others, error) = try read(Self.file)
    #expect(error == nil && others == 0)
    #expect(
      keys.sorted() == [
        "at=Linz", "at=Vienna", #"list=["a","b"]"#, "long=aaaaaaaaaaaa", "n16=1234", "n32=-123456789", "n8=-7",
        #"scores={"a":1,"b":2"#, "session=token",
      ]
    )
  }

  @Test func everyPrefixIsAnErrorWithAPlace() throws {
    for end in Self.file.indices {
      guard case .badBytes(_, let offset, _) = try read(Array(Self.file[..<end])).error else {
        Issue.record("no error of the first \(end) bytes")
        continue
      }
      #expect(offset <= end)
    }
  }

  @Test func everyFlippedBitIsSeen() throws {
    for place in Self.file.indices {
      var changed = Self.file
      changed[place] ^= 1 << UInt8(place % 8)
      #expect(try read(changed).error != nil, "byte \(place)")
    }
  }

  @Test func whatIsNoneIsRefused() throws {
    for (text, why) in [
      ("REDIS0099", "version 99 of the format is not known, only up to 12"), ("REDIS-001", "version -1"),
      ("VALKEY080", "not an RDB file"), ("REDIS00", "the file ends in the middle"),
    ] {
      guard case .badBytes(_, _, let said) = try read(Array(text.utf8)).error else {
        Issue.record("no error of \(text)")
        continue
      }
      #expect(said.hasPrefix(why), "\(said)")
    }
    let trailing = try read(Self.file + [0x0A]).error
    #expect(
      trailing == .badBytes(name: "", offset: 0, why: "") || "\(trailing, default: "none")".contains("behind the end")
    )
    // Lengths that no file has, of what is loaded and of what is not.
    for body: [UInt8] in [
      [0, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0, 1, 0x61, 0x81, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [1, 1, 0x61, 0x81, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0, 0xC3, 0x80, 0, 0, 0, 1, 0xC0],
      [200, 1, 0x61],
      [0xC4], [0, 0xC4], [0, 1, 0x61, 0xC3, 2, 5, 0x20, 0xFF], [7, 1, 0x61, 1, 9],
    ] {
      #expect(try read(Array("REDIS0011".utf8) + body).error != nil, "\(body)")
    }
  }

  @Test func theChecksumIsThatOfJones() {
    var checksum = CRC64()
    checksum.add(ContiguousArray("123456789".utf8).span)
    #expect(checksum.value == 0xE9C6_D914_C4B8_D9CA)
  }

  @Test func compressedBytesAreNotBelieved() {
    func decompress(_ bytes: [UInt8], _ count: Int) -> [UInt8]? {
      LZF.decompress(ContiguousArray(bytes).span, count: count)
    }
    // "ab", and then seven bytes from two before, which reach into themselves.
    let bytes: [UInt8] = [1, 0x61, 0x62, 0xA0, 1]
    #expect(decompress(bytes, 9) == Array("ababababa".utf8))
    #expect(decompress([1, 0x61, 0x62, 0xE0, 3, 1], 14) == Array("ababababababab".utf8))
    for count in 0..<20 where count != 9 { #expect(decompress(bytes, count) == nil) }
    for end in 0..<bytes.count { #expect(decompress(Array(bytes[..<end]), 9) == nil) }
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << UInt8(bit)
        let result = decompress(changed, 9)
        #expect(result == nil || result?.count == 9)
      }
    }
    #expect(decompress([], 0) == [] && decompress([0x20, 0], 3) == nil)
  }
}
