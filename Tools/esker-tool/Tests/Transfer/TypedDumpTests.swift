import Esker
import EskerCBOR
import Foundation
import Testing

@testable import esker_tool

/// Dumps of typed storages: readable, and the same bytes when they are loaded again.
@Suite struct TypedDumpTests {
  private struct Item: Codable, Equatable {
    var name = "a \"b\" é"
    var data = Data([0, 0xFF])
    var made = Date(timeIntervalSince1970: 1_772_366_400.25)
    var id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var link = URL(string: "https://example.org/a?b=1")
    var price = Decimal(sign: .minus, exponent: -2, significand: 1995)
    var ratios: [Double] = [1, -0.0, 0.5, 1e300, .infinity, -.infinity]
    var numbers: [Int64] = [.min, -1, 0, 23, 24, 256, 65_536, .max]
    var large = UInt64.max
    var none: Int?
  }

  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.storage("items", key: UUID.self, of: Item.self).set(Item(), forKey: Item().id)
    try store.storage("scores", of: Int.self).set(-7, forKey: "anna")
    try store.storage("flags", key: CompositeKey<String, Int16>.self, of: Bool.self).set(
      true,
      forKey: .init("x,\\", -3)
    )
    let instants = try store.storage("instants", of: Date.self)
    try instants.set(Date(timeIntervalSince1970: 0.125), forKey: "early")
    try instants.set(Date(timeIntervalSinceReferenceDate: 1e300), forKey: "late")
    try store.storage("ratios", of: Double.self).set(.infinity, forKey: "most")
    try store.storage("packed", transformer: Transformer<[String: Int]>.binary.then(.lz4)).set(["n": 1], forKey: "p")
    try store.storage("summed", transformer: Transformer<Int>.binary.versioned(2).then(.checksum)).set(7, forKey: "s")
    try store.storage("dated", transformer: Transformer<[String: Int]>.binary.versioned(3)).set(["v": 3], forKey: "v")
    try store.storage("lists", transformer: Transformer<[Int]>.propertyList()).set([1], forKey: "l")
    let documents = try store.storage("documents", transformer: Transformer<[String: Int]>.json)
    try documents.set(["a": 1], forKey: "d")
    let bytes = try store.keyspace("documents")
    try bytes.put(#" {"a" : "\u00e9"}"#, forKey: "spaced")
    try bytes.put("{\n}", forKey: "lines")
    try bytes.put("no json", forKey: "text")
    try store.keyspace("scores").put("many", forKey: "other")
    try store.close()
    return scratch
  }

  /// Every entry and every form.
  private func contents(_ path: String) throws -> [String: [UInt8]] {
    var options = Options()
    options.readOnly = true
    let store = try LogStore(at: path, options: options)
    var contents: [String: [UInt8]] = [:]
    for entry in try store.snapshot() { contents["\(entry.keyspace) \(try entry.key())"] = try entry.value() }
    for name in try store.keyspaceNames {
      let keyspace = try store.keyspace(name)
      contents[name] = Array("\(keyspace.keyForm ?? "-") \(keyspace.valueForm ?? "-")".utf8)
    }
    try store.close()
    return contents
  }

  private func object(_ line: String) throws -> [String: Any] {
    let parsed = try JSONSerialization.jsonObject(with: Data(line.utf8))
    return try #require(parsed as? [String: Any])
  }

  @Test(arguments: ["ndjson", "csv"]) func loadMakesTheSameBytesAndForms(_ format: String) throws {
    let scratch = try filled()
    // Bytes that are not text have no place between commas.
    if format == "csv" {
      for (key, keyspace) in [("l", "lists"), ("s", "summed")] {
        #expect(try scratch.run("delete", scratch.store, key, "--keyspace", keyspace).status == 0)
      }
    }
    let dump = try scratch.run("dump", scratch.store, "--format", format)
    #expect(dump.status == 0, "\(dump.errors)")
    let copy = scratch.path("copy")
    let load = try scratch.run("load", copy, "-", "--format", format, input: dump.output)
    #expect(load.status == 0, "\(load.errors)")
    var expected = try contents(scratch.store)
    // Nothing names the forms of a keyspace without entries.
    if format == "csv" { (expected["lists"], expected["summed"]) = (nil, nil) }
    #expect(try contents(copy) == expected)
  }

  @Test func typedEntriesAreReadable() throws {
    let scratch = try filled()
    let lines = try scratch.run("dump", scratch.store).lines
    let item = try object(#require(lines.first { $0.contains(#""keyspace":"items""#) }))
    #expect(item["key"] as? String == Item().id.uuidString && item["keyForm"] as? String == "uuid")
    #expect(item["valueForm"] as? String == "cbor")
    let value = try #require(item["value"] as? [String: Any])
    #expect(value["data"] as? [String: String] == ["$base64": "AP8="])
    #expect(value["made"] as? [String: String] == ["$date": "2026-03-01T12:00:00.250Z"])
    #expect(value["id"] as? [String: String] == ["$uuid": Item().id.uuidString])
    #expect(value["price"] as? [String: String] == ["$decimal": "-19.95"])
    for part in [
      #""key":"anna","keyForm":"utf8","value":-7,"valueForm":"int64""#,
      #""key":"x\\,\\\\,-3","keyForm":"utf8,int16","value":true,"valueForm":"bool""#,
      #""key":"early","keyForm":"utf8","value":"1970-01-01T00:00:00.125Z","valueForm":"date""#,
      #""key":"most","keyForm":"utf8","value":"inf","valueForm":"float64""#,
      #""key":"p","keyForm":"utf8","value":{"n":1},"valueForm":"cbor+lz4""#,
      #""key":"d","keyForm":"utf8","value":{"a":1},"valueForm":"json""#,
      #""key":"v","keyForm":"utf8","value":{"v":3},"valueForm":"cbor","valueVersion":3"#,
      // Not of the form, or not the same when read back: as bytes.
      #""key":"other","keyForm":"utf8","value64":"bWFueQ==","valueForm":"int64""#,
      #""key":"text","keyForm":"utf8","value64":"#, #""key":"spaced","keyForm":"utf8","value64":"#,
      #""key":"s","keyForm":"utf8","value64":"#, #""key":"l","keyForm":"utf8","value64":"#,
    ] {
      #expect(lines.contains { $0.contains(part) }, "\(part)")
    }
  }

  @Test func decodingIsChosen() throws {
    let scratch = try filled()
    let raw = try scratch.run("dump", scratch.store, "--keyspace", "scores", "--decode", "raw").lines
    #expect(raw.contains(#"{"key":"anna","value64":"+f////////8=","expires":null}"#))
    let cbor = try CBOREncoder().encode(["a": 1])
    _ = try scratch.run("put", scratch.store, "c", "-", input: Data(cbor))
    _ = try scratch.run("put", scratch.store, "j", #"{"b":2}"#)
    #expect(try scratch.run("get", scratch.store, "c", "--decode", "cbor").text == #"{"a":1}"#)
    #expect(try scratch.run("get", scratch.store, "c", "--decode", "raw").output == Data(cbor))
    let other = try scratch.run("get", scratch.store, "c", "--decode", "json")
    #expect(other.status == 0 && other.output == Data(cbor) && other.errors.contains("not of the form json"))
    #expect(
      try scratch.run("list", scratch.store, "--values", "--decode", "cbor").lines.sorted()
        == [#"c\#t{"a":1}"#, #"j\#t{"b":2}"#]
    )
    let lines = try scratch.run("dump", scratch.store, "--decode", "json", "--keyspace", "").lines
    #expect(lines.contains(#"{"key":"j","value":{"b":2},"valueForm":"json","expires":null}"#))
    for arguments in [
      ["--decode", "cbor", "--encoding", "hex"], ["--decode", "cbor", "--format", "binary"], ["--decode", "x"],
    ] {
      #expect(try scratch.run(["dump", scratch.store] + arguments).status == 64)
    }
  }

  @Test func entriesOfOtherFormsAreRefused() throws {
    let scratch = try filled()
    func load(_ line: String) throws -> ToolResult {
      try scratch.run("load", scratch.store, "-", "--format", "ndjson", input: Data((line + "\n").utf8))
    }
    let other = try load(#"{"keyspace":"scores","key":"x","keyForm":"utf8","value":true,"valueForm":"bool"}"#)
    #expect(other.status == 64 && other.errors.contains("records the form int64"))
    for (line, why) in [
      (#"{"key":"x","value":"y","valueForm":"int64"}"#, "field \"value\" is not of the form int64"),
      (#"{"key":"x","keyForm":"int64","value":"y"}"#, "field \"key\" is not of the form int64"),
      (#"{"key":"x","value":1}"#, "field \"value\" is not a text"),
      (#"{"key":"x","value":"1","valueForm":"utf8","valueForm":"utf8"}"#, "more than one \"valueForm\""),
      (#"{"key":"x","value":{"a":1,"a":2},"valueForm":"cbor"}"#, "not of the form cbor"),
      (#"{"key":"x","value":1,"value64":"MQ==","valueForm":"int8"}"#, "more than one value"),
      (#"{"key":"x","value":1,"valueForm":"int8","valueVersion":65536}"#, "\"valueVersion\" is not one number"),
      (#"{"key":"x","value":1,"valueForm":"plist"}"#, "not of the form plist"),
    ] {
      let refused = try load(line)
      #expect(refused.status == 1 && refused.errors.contains(why), "\(line): \(refused.errors)")
    }
  }

  @Test func putOfJSONIsWhatTheStorageReads() throws {
    let scratch = try filled()
    func put(_ keyspace: String, _ key: String, _ json: String) throws -> ToolResult {
      try scratch.run("put", scratch.store, key, json, "--keyspace", keyspace, "--json")
    }
    let text = try #require(CBORText.json(of: CBOREncoder().encode(Item()), isMarked: true))
    let id = UUID(uuid: (16, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1))
    for (keyspace, key, json) in [
      ("items", id.uuidString, text), ("scores", "bert", "12"), ("instants", "x", "\"2026-03-01T12:00:00Z\""),
      ("packed", "q", #"{"n":2}"#), ("documents", "e", #"{"a":2}"#), ("new", "n", #"{"a":3}"#),
    ] {
      let result = try put(keyspace, key, json)
      #expect(result.status == 0, "\(keyspace): \(result.errors)")
    }
    #expect(try put("scores", "x", "\"12 apples\"").status == 64)
    #expect(try put("scores", "x", "{").status == 64)
    #expect(try put("documents", "x", "{").status == 64)
    #expect(try put("lists", "x", "[1]").errors.contains("the form plist, which cannot be made from JSON"))
    #expect(try scratch.run("put", scratch.store, "x", "1", "--json", "--raw").status == 64)
    let store = try LogStore(at: scratch.store)
    #expect(try store.storage("items", key: UUID.self, of: Item.self).value(forKey: id) == Item())
    #expect(try store.storage("scores", of: Int.self).value(forKey: "bert") == 12)
    #expect(
      try store.storage("instants", of: Date.self).value(forKey: "x") == Date(timeIntervalSince1970: 1_772_366_400)
    )
    let packed = try store.storage("packed", transformer: Transformer<[String: Int]>.binary.then(.lz4))
    #expect(try packed.value(forKey: "q") == ["n": 2])
    #expect(try store.storage("new", of: [String: Int].self).value(forKey: "n") == ["a": 3])
    try store.close()
  }

  @Test func severalKeysAreLines() throws {
    let scratch = try filled()
    _ = try scratch.run("put", scratch.store, "bert", "8", "--keyspace", "scores")
    let both = try scratch.run("get", scratch.store, "anna", "bert", "--keyspace", "scores")
    #expect(both.status == 0 && both.text == "anna\t-7\nbert\t8\n")
    let some = try scratch.run("get", scratch.store, "cleo", "bert", "--keyspace", "scores")
    #expect(some.status == 1 && some.text == "bert\t8\n")
    #expect(some.errors == "esker: no value for key \"cleo\"\n")
  }

  @Test(arguments: [
    "", "{", "[1,]", #"{"a":1,}"#, #"{"a":1,"a":1}"#, "1 2", "nul", #""\ud800""#, #"{"$date":"never"}"#,
    #"{"$base64":"*"}"#, String(repeating: "[", count: 300) + String(repeating: "]", count: 300),
  ])
  func whatIsNotJSONIsNoCBOR(_ text: String) {
    let bytes = CBORFromJSON.bytes(of: ContiguousArray(text.utf8).span)
    #expect(bytes == nil)
  }

  @Test(arguments: [
    #"{"$date":1}"#, #"{"$date":"2026-03-01T12:00:00Z","b":1}"#, #"{"$other":"x"}"#, "{}", "[]", "\"\"",
  ])
  func objectsThatAreNoMarksStayThemselves(_ text: String) {
    let bytes = CBORFromJSON.bytes(of: ContiguousArray(text.utf8).span)
    #expect(bytes.flatMap { CBORText.json(of: $0) } == text)
  }
}
