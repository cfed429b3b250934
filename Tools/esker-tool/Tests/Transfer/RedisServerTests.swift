import EskerTestSupport
import Foundation
import Testing

@testable import esker_tool

/// The real Redis, while it runs.
@Suite(.needs("redis-server", "redis-cli", package: "redis-server")) struct RedisServerTests {
  private static let started = RedisFileTests.commands

  @Test func aDatabaseIsLoaded() throws {
    let server = try RedisServer(hasPort: true)
    let scratch = server.scratch
    try server.give(Self.started)
    let plan = try scratch.run("import", scratch.store, server.address(), "--dry-run")
    #expect(
      plan.status == 0 && plan.errors.hasPrefix("would load 19 records")
        && plan.errors.hasSuffix(RedisFileTests.others),
      "\(plan.errors)"
    )
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
    let load = try scratch.run("import", scratch.store, server.address())
    #expect(
      load.status == 0 && load.errors.hasPrefix("loaded 19 records") && load.errors.hasSuffix(RedisFileTests.others),
      "\(load.errors)"
    )
    try RedisFileTests.check(scratch.store, scratch)
    let other = try scratch.run("import", scratch.store, server.address(database: 5), "--keyspace", "five")
    #expect(other.status == 0, "\(other.errors)")
    #expect(try scratch.run("list", scratch.store, "--values", "--keyspace", "five").text == "at\tLinz\n")
    // What is there already, and what the options are not for.
    let again = try scratch.run("import", scratch.store, server.address(), "--if-absent")
    #expect(again.status == 0 && again.errors.contains("; 19 there already"), "\(again.errors)")
    for options in [["--key-field", "id"], ["--format", "rdb"], ["--table", "t"]] {
      #expect(try scratch.run(["import", scratch.store, server.address()] + options).status == 64)
    }
    #expect(try scratch.run("import", scratch.store, server.address(database: 99)).errors.contains("DB index"))
  }

  @Test func passwordsAreGiven() throws {
    let server = try RedisServer(hasPort: true)
    let scratch = server.scratch
    try server.give(["set at Vienna", "acl setuser reader on >a:b@c ~* +@all", "config set requirepass secret"])
    let refused = try scratch.run("import", scratch.store, server.address())
    #expect(refused.status == 74 && refused.errors.contains("NOAUTH"), "\(refused.errors)")
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
    #expect(try scratch.run("import", scratch.store, server.address(":wrong@")).errors.contains("WRONGPASS"))
    for user in [":secret@", "reader:a%3Ab%40c@"] {
      let load = try scratch.run("import", scratch.store, server.address(user))
      #expect(load.status == 0 && load.errors.hasPrefix("loaded 1 record "), "\(load.errors)")
    }
    try scratch.succeed("REDISCLI_AUTH=secret \"$0\" import by-variable \(server.address())")
    // The password is not among what is kept of the load.
    try scratch.succeed("REDISCLI_AUTH=secret redis-cli -s s set long \(String(repeating: "x", count: 2000))")
    let stopped = try scratch.run("import", scratch.store, server.address(":secret@"), "--resume", "--max-line", "1kB")
    #expect(stopped.status == 1 && stopped.errors.contains("longer than 1,000 bytes"), "\(stopped.errors)")
    #expect(try !scratch.run("dump", scratch.store, "--keyspace", "esker.load").text.contains("secret"))
  }

  @Test func whatStoppedIsResumed() throws {
    let server = try RedisServer(hasPort: true)
    let scratch = server.scratch
    try server.give((0..<5000).map { "set key:\($0) value" })
    let names = try scratch.succeed("redis-cli -s s --scan").split(separator: "\n")
    let last = try #require(names.last)
    try server.give(["append \(last) \(String(repeating: "x", count: 2000))"])
    let arguments = ["import", scratch.store, server.address(), "--resume", "--json"]
    let stopped = try scratch.run(arguments + ["--max-line", "1kB"])
    #expect(stopped.status == 1 && stopped.errors.contains("longer than 1,000 bytes"), "\(stopped.errors)")
    let there = try #require(Int(scratch.run("count", scratch.store).text.dropLast()))
    #expect(there > 4000)
    let resumed = try scratch.run(arguments)
    #expect(resumed.status == 0, "\(resumed.errors)")
    let counts = try #require(try JSONSerialization.jsonObject(with: resumed.output) as? [String: Any])
    #expect((counts["earlier"] as? Int ?? 0) > 4000 && (counts["records"] as? Int ?? 5000) < 1000, "\(counts)")
    #expect(try scratch.run("count", scratch.store).text == "5000\n")
    #expect(try scratch.run("get", scratch.store, String(last)).output.count > 2000)
  }

  @Test func whereScanGoesOnMeansNothingToAnotherRun() throws {
    let server = try RedisServer(hasPort: true)
    let scratch = server.scratch
    try server.give((0..<2000).map { "set key:\($0) value" })
    let last = try #require(try scratch.succeed("redis-cli -s s --scan").split(separator: "\n").last)
    try server.give(["append \(last) \(String(repeating: "x", count: 2000))"])
    let arguments = ["import", scratch.store, server.address(), "--resume"]
    #expect(try scratch.run(arguments + ["--max-line", "1kB"]).status == 1)
    try server.restart()
    let refused = try scratch.run(arguments)
    #expect(
      refused.status == 1 && refused.errors.contains("load it without --resume to start over"),
      "\(refused.errors)"
    )
  }

  @Test func whereThereIsNoServerNothingIsMade() throws {
    let scratch = try Scratch()
    let refused = try scratch.run("import", scratch.store, "redis://127.0.0.1:1")
    #expect(
      refused.status == 74 && refused.errors.contains("cannot connect to redis://127.0.0.1:1/0"),
      "\(refused.errors)"
    )
    #expect(
      try scratch.run("import", scratch.store, "redis://nowhere.invalid").errors.contains("no address to connect to")
    )
    for wrong in [
      "redis://", "redis://h/x", "redis://h:0", "redis://h:99999", "rediss://h", "redis://h?a=b", "redis://h/-1",
    ] {
      let result = try scratch.run("import", scratch.store, wrong)
      #expect(result.status == 64 && result.errors.contains("redis://HOST:PORT/DATABASE"), "\(wrong): \(result.errors)")
    }
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }
}

/// Answers that no server gives.
@Suite struct RedisAnswerTests {
  /// DUMP of "Vienna", and of a list of "a" and "b", by Redis 7.0.
  private static let text = Array(Data(base64Encoded: "AAZWaWVubmEKANmOnQ/F5d9U") ?? Data())
  private static let list = Array(Data(base64Encoded: "EgECDQ0AAAACAIFhAoFiAv8KAGjrCokTQbux") ?? Data())

  private static func string(_ bytes: [UInt8]) -> [UInt8] {
    Array("$\(bytes.count)\r\n".utf8) + bytes + [13, 10]
  }

  private static let greeting = Array("+OK\r\n".utf8) + string(Array("# Server\r\nrun_id:abc\r\n".utf8))
  private static let names =
    Array("*2\r\n$1\r\n0\r\n*3\r\n".utf8) + string([0x61]) + string([0x62]) + string([0x63])
  private static let values =
    Array(":-1\r\n".utf8) + string(text) + Array(":1000\r\n".utf8) + string(list) + Array(":-2\r\n$-1\r\n".utf8)

  private func read(_ answers: [UInt8]) throws -> (found: [String], error: ToolError?) {
    let scratch = try Scratch()
    let address = try #require(RedisAddress("redis://h"))
    let ignored = open("/dev/null", O_WRONLY)
    defer { close(ignored) }
    var reader = LineReader(try InputFile(scratch.file("in", answers)), limit: 1 << 16, bufferSize: 64)
    var source = RedisServerSource(RedisConnection(address, descriptor: ignored))
    var found: [String] = []
    do {
      try source.greet(&reader)
      while true {
        switch try source.next(&reader) {
        case .end: return (found, nil)
        case .blank: break
        case .bad(_, let why): found.append("bad: \(why)")
        case .notTaken(let kind): found.append("not: \(kind)")
        case .record:
          let expires = source.expiry == nil ? "" : "!"
          try source.withRecord(reader) { key, value in
            let (key, value) = ([UInt8](copying: key), [UInt8](copying: value))
            found.append(String(decoding: key, as: UTF8.self) + expires + "=" + String(decoding: value, as: UTF8.self))
          }
        }
      }
    } catch let error as ToolError {
      return (found, error)
    }
  }

  @Test func answersAreRead() throws {
    let (found, error) = try read(Self.greeting + Self.names + Self.values)
    #expect(error == nil && found == ["a=Vienna", #"b!=["a","b"]"#])
  }

  @Test func everyPrefixIsAnError() throws {
    let answers = Self.greeting + Self.names + Self.values
    // Without its last byte it is the same.
    for end in 0..<answers.count - 1 { #expect(try read(Array(answers[..<end])).error != nil, "\(end)") }
  }

  @Test func noFlippedBitOfAValueIsTakenForIt() throws {
    let before = Self.greeting + Self.names
    let start = before.count + 5
    let answers = before + Self.values
    for place in start..<start + Self.string(Self.text).count {
      var changed = answers
      changed[place] ^= 1 << UInt8(place % 7)
      #expect(try read(changed).error != nil, "\(place)")
    }
  }

  @Test(arguments: [
    "*2\r\n", "*-1\r\n", "*1\r\n$1\r\n0\r\n", "*2\r\n$1\r\nx\r\n*0\r\n", "*2\r\n$-1\r\n*0\r\n",
    "*2\r\n$1\r\n0\r\n*99999999\r\n",
    "*2\r\n$1\r\n0\r\n*1\r\n$99999999999\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$-7\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\naXX",
    "-LOADING\r\n", "HTTP/1.1 400 Bad Request\r\n", "\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n+OK\r\n",
    "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n:-1\r\n$0\r\n\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n:-1\r\n$2\r\n\u{0}a\r\n",
  ]) func othersAreErrors(_ text: String) throws {
    #expect(try read(Self.greeting + Array(text.utf8)).error != nil)
  }

  @Test func longNamesAndUnknownTypesAreTold() throws {
    let name = [UInt8](repeating: 0x61, count: 70_000)
    let answers =
      Self.greeting + Array("*2\r\n$1\r\n0\r\n*2\r\n".utf8) + Self.string(name) + Self.string([0x62])
      + Array(":9223372036854775807\r\n".utf8) + Self.string([200] + [UInt8](repeating: 0, count: 20))
    let (found, error) = try read(answers)
    #expect(error == nil && found == ["bad: the key has more than 65,535 bytes", "not: key of type 200"])
  }
}

/// How Redis packs elements into one string.
@Suite struct RDBPackingTests {
  private func unpack(_ packing: RDBPacking, _ bytes: [UInt8]) -> [String]? {
    var found: [String] = []
    return packing.unpack(bytes) { found.append(String(decoding: $0, as: UTF8.self)) } ? found : nil
  }

  private func sized(_ body: [UInt8], tail: Bool, count: Int) -> [UInt8] {
    let length = body.count + (tail ? 11 : 7)
    return [UInt8(length & 0xFF), UInt8(length >> 8), 0, 0] + (tail ? [0, 0, 0, 0] : []) + [UInt8(count), 0] + body + [
      0xFF
    ]
  }

  /// As Redis before 7.0 wrote them, by the description of the format.
  @Test func ziplistsAreRead() {
    let elements: [([UInt8], String)] = [
      ([2, 0x61, 0x62], "ab"), ([0x40, 3, 0x61, 0x62, 0x63], "abc"), ([0x80, 0, 0, 0, 1, 0x61], "a"),
      ([0xC0, 0x39, 0x30], "12345"), ([0xC0, 0xFF, 0xFF], "-1"), ([0xD0, 0, 0, 1, 0], "65536"),
      ([0xE0, 0, 0, 0, 0, 0, 0, 0, 0x80], "-9223372036854775808"), ([0xF0, 0, 0, 0x80], "-8388608"),
      ([0xFE, 0x80], "-128"),
      ([0xF1], "0"), ([0xFD], "12"),
    ]
    // Before each is how long the one before it is, in one byte or in five.
    var body: [UInt8] = []
    for (number, element) in elements.enumerated() {
      body += number == 3 ? [0xFE, 0, 0, 0, 0] : [1]
      body += element.0
    }
    let bytes = sized(body, tail: true, count: elements.count)
    #expect(unpack(.ziplist, bytes) == elements.map(\.1))
    check(.ziplist, bytes)
  }

  @Test func listpacksAreRead() {
    let elements: [([UInt8], String)] = [
      ([0x7F], "127"), ([0x82, 0x61, 0x62], "ab"), ([0xDF, 0xFF], "-1"), ([0xC1, 0], "256"),
      ([0xE0, 1, 0x61], "a"), ([0xF0, 1, 0, 0, 0, 0x61], "a"), ([0xF1, 0, 0x80], "-32768"),
      ([0xF2, 0xFF, 0xFF, 0xFF], "-1"),
      ([0xF3, 0, 0, 0, 0x80], "-2147483648"), ([0xF4, 1, 0, 0, 0, 0, 0, 0, 0], "1"),
      ([0xE0, 200] + [UInt8](repeating: 0x61, count: 200), String(repeating: "a", count: 200)),
    ]
    let body = elements.flatMap { (element, _) -> [UInt8] in
      element + [UInt8](repeating: 0, count: element.count <= 127 ? 1 : 2)
    }
    let bytes = sized(body, tail: false, count: elements.count)
    #expect(unpack(.listpack, bytes) == elements.map(\.1))
    check(.listpack, bytes)
  }

  @Test func intsetsAreRead() {
    let bytes: [UInt8] = [2, 0, 0, 0, 3, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0x39, 0x30]
    #expect(unpack(.intset, bytes) == ["-1", "0", "12345"])
    check(.intset, bytes)
    for width in [0, 1, 3, 16] as [UInt8] { #expect(unpack(.intset, [width, 0, 0, 0, 0, 0, 0, 0]) == nil) }
    #expect(unpack(.intset, [8, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]) == nil)
  }

  /// Of no prefix anything is made, and of nothing that was changed more than there can be.
  private func check(_ packing: RDBPacking, _ bytes: [UInt8]) {
    for end in bytes.indices { #expect(unpack(packing, Array(bytes[..<end])) == nil, "\(end)") }
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << UInt8(bit)
        #expect((unpack(packing, changed)?.count ?? 0) <= bytes.count)
      }
    }
  }
}
