import Esker
import EskerCBOR
import EskerTools
import Foundation
import Testing

@testable import esker_tool

/// Keys and values by the forms that a program has recorded.
@Suite struct FormTests {
  private struct Board: Codable {
    var title: String
    var squares: [Int]
    var id: UUID
    var made: Date
    var data: Data
    var ratio: Double
    var note: String?
  }

  private static let id = "3F2504E0-4F89-11D3-9A0C-0305E82C3301"
  private static let json =
    #"{"title":"a \"b\"","squares":[1,-2,3],"id":"\#(id)","made":"2026-03-01T12:00:00.250Z","data":"AP8=","ratio":0.5}"#

  private func bytes(hex digits: String) throws -> [UInt8] {
    let decoded = ByteEncoding.hex.decode(ContiguousArray(digits.replacing(" ", with: "").utf8).span)
    return try #require(decoded)
  }

  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let board = Board(
      title: "a \"b\"",
      squares: [1, -2, 3],
      id: try #require(UUID(uuidString: Self.id)),
      made: Date(timeIntervalSince1970: 1_772_366_400.25),
      data: Data([0, 0xFF]),
      ratio: 0.5
    )
    try store.storage("boards", key: Int.self, of: Board.self).set(board, forKey: 42)
    try store.storage("scores", of: Int.self).set(-7, forKey: "anna")
    let visits = try store.storage("visits", key: CompositeKey<String, UInt16>.self, of: Bool.self)
    try visits.set(true, forKey: CompositeKey("a,\\b\0", 7))
    try store.close()
    return scratch
  }

  @Test func endsOfARangeAreOfTheFormOfTheKeys() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let numbers = try store.storage("numbers", key: Int.self, of: Int.self)
    for number in [-300, -2, 0, 5, 40, 300] { try numbers.set(number, forKey: number) }
    try store.close()
    func listed(_ arguments: String...) throws -> [String] {
      try scratch.run(["list", scratch.store, "--keyspace", "numbers", "--sort", "key"] + arguments).lines
    }
    #expect(try listed("--from=-2", "--to", "40") == ["-2", "0", "5"])
    #expect(try listed("--from", "6") == ["40", "300"])
    #expect(try listed("--to", "0", "--prefix=-3") == ["-300"])
    let wrong = try scratch.run("list", scratch.store, "--keyspace", "numbers", "--from", "many")
    #expect(wrong.status == 64 && wrong.errors.contains("many") && wrong.errors.contains("int64"))
  }

  // MARK: Forms

  @Test(
    arguments: [
      ("int64", "42", "8000 0000 0000 002a"), ("int64", "-1", "7fff ffff ffff ffff"), ("int8", "-128", "00"),
      ("int16", "32767", "ffff"), ("uint8", "200", "c8"), ("uint64", "18446744073709551615", "ffff ffff ffff ffff"),
      ("uint128", "340282366920938463463374607431768211455", "ffff ffff ffff ffff ffff ffff ffff ffff"),
      ("int128", "-2", "7fff ffff ffff ffff ffff ffff ffff fffe"), ("float64", "-1.0", "400f ffff ffff ffff"),
      ("float64", "0.5", "bfe0 0000 0000 0000"), ("bool", "true", "01"),
      ("bool,float64", "false,0.0", "00ff 0001 8000 0000 0000 0000"),
      ("uint32", "1", "0000 0001"), ("uuid", id, "3f2504e0 4f89 11d3 9a0c 0305e82c3301"), ("utf8", "é", "c3a9"),
      ("json", #"{"a":1}"#, "7b22 6122 3a31 7d"), ("utf8,int8", "a,1", "6100 0181"),
      ("date", "2001-01-01T00:00:01.500Z", "bff8 0000 0000 0000"),
      ("date", "2000-12-31T23:59:58.500Z", "4007 ffff ffff ffff"),
      ("utf8,uint8", #"a\,\\b,1"#, "612c 5c62 0001 01"), ("own", "text", "74657874"),
    ]
  )
  func keysAreTextAndBack(_ name: String, _ text: String, _ digits: String) throws {
    let bytes = try bytes(hex: digits)
    let form = StoredForm(name, of: .keys)
    #expect(form.bytes(of: text) == bytes)
    #expect(form.text(of: bytes) == text)
  }

  @Test(
    arguments: [
      ("int64", "42", "2a00 0000 0000 0000"), ("int32", "-2", "feff ffff"), ("uint16", "258", "0201"),
      ("float64", "0.5", "0000 0000 0000 e03f"), ("float32", "-1.5", "0000 c0bf"), ("bool", "true", "01"),
      ("date", "2001-01-01T00:00:01.500Z", "0000 0000 0000 f83f"), ("date", "1e+300", "9c75 0088 3ce4 377e"),
      ("cbor", #"{"a":[1,-2,null,true,0.5,"x"]}"#, "a161 6186 0121 f6f5 f938 0061 78"),
      ("cbor", "18446744073709551615", "1bff ffff ffff ffff ff"),
    ]
  )
  func valuesAreTextAndBack(_ name: String, _ text: String, _ digits: String) throws {
    let bytes = try bytes(hex: digits)
    let form = StoredForm(name, of: .values)
    #expect(form.text(of: bytes) == text)
    if text != "18446744073709551615" { #expect(form.bytes(of: text) == bytes) }
    // Under a version.
    #expect(form.text(of: [0xE5, 0x6B, 0x72, 0x76, 2, 0] + bytes) == text)
  }

  @Test(
    arguments: [
      ("bf 61 61 9f 01 ff ff", #"{"a":[1]}"#), ("a2 01 02 f5 03", #"{"1":2,"true":3}"#),
      ("7f 61 61 61 62 ff", #""ab""#),
      ("5f 41 00 41 ff ff", #""AP8=""#), ("3b ff ff ff ff ff ff ff ff", "-18446744073709551616"), ("f9 7e 00", "null"),
      ("c2 49 01 00 00 00 00 00 00 00 00", "18446744073709551616"), ("c4 82 21 19 6a b3", "273.15"),
      ("d8 20 63 61 3a 62", #""a:b""#), ("c1 1a 65 53 f1 00", #""2023-11-14T22:13:20.000Z""#), ("d9 d9 f7 f7", "null"),
    ]
  )
  func itemsOfCBORAreJSON(_ digits: String, _ json: String) throws {
    let bytes = try bytes(hex: digits)
    #expect(CBORText.json(of: bytes) == json)
    for length in 0..<bytes.count { #expect(CBORText.json(of: Array(bytes[..<length])) == nil, "\(length) bytes") }
    #expect(CBORText.json(of: bytes + [0]) == nil)
  }

  @Test func hostileBytesAreNotCBOR() {
    #expect(CBORText.json(of: [UInt8](repeating: 0x81, count: 100_000)) == nil)
    #expect(CBORText.json(of: [0x9B] + [UInt8](repeating: 0xFF, count: 8)) == nil)
    #expect(CBORText.json(of: [0x5B] + [UInt8](repeating: 0xFF, count: 8)) == nil)
    #expect(
      CBORText.json(of: [0xFF]) == nil && CBORText.json(of: [0x1F]) == nil
        && CBORText.json(of: [0x62, 0xC3, 0x28]) == nil
    )
  }

  @Test(arguments: [
    ("int64", "x"), ("int8", "128"), ("uint8", "-1"), ("uuid", "1"), ("utf8,int8", "a"), ("utf8,int8", "a,b"),
  ])
  func whatIsNotOfTheFormIsNoKey(_ name: String, _ text: String) {
    #expect(StoredForm(name, of: .keys).bytes(of: text) == nil)
  }

  // MARK: Commands

  @Test func keysAreGivenAndPrintedInTheirForm() throws {
    let scratch = try filled()
    let store = scratch.store
    #expect(try scratch.run("list", store, "--keyspace", "boards").text == "42\n")
    #expect(try scratch.run("list", store, "--keyspace", "boards", "--prefix", "4").text == "42\n")
    #expect(try scratch.run("list", store, "--keyspace", "boards", "--prefix", "2").text.isEmpty)
    #expect(
      try scratch.run("list", store, "--keyspace", "boards", "--key-encoding", "hex").text == "800000000000002a\n"
    )
    #expect(try scratch.run("list", store, "--keyspace", "visits", "--values").text == #"a\\,\\\\b\x00,7"# + "\ttrue\n")
    #expect(try scratch.run("get", store, "42", "--keyspace", "boards").text == Self.json)
    #expect(
      try scratch.run("get", store, "800000000000002a", "--keyspace", "boards", "--key-encoding", "hex").text
        == Self.json
    )
    #expect(try scratch.run("get", store, "43", "--keyspace", "boards").status == 1)
    let wrong = try scratch.run("get", store, "anna", "--keyspace", "boards")
    #expect(wrong.status == 64)
    #expect(wrong.errors.contains("\"anna\" is not a key of the form int64, which the keyspace records"))
    let versions = try scratch.run("inspect", store, "--key", "42", "--keyspace", "boards")
    #expect(versions.status == 0 && versions.lines.count == 2)
    let segment = try #require(try SampleStore.ids(store).first)
    let records = try scratch.run("inspect", store, "--segment", "\(segment)")
    #expect(records.lines.contains { $0.hasSuffix("boards\t42") })
    #expect(try scratch.run("delete", store, "42", "--keyspace", "boards").status == 0)
    #expect(try scratch.run("count", store, "--keyspace", "boards").text == "0\n")
  }

  @Test func valuesAreGivenAndPrintedInTheirForm() throws {
    let scratch = try filled()
    let store = scratch.store
    #expect(try scratch.run("get", store, "anna", "--keyspace", "scores").text == "-7")
    #expect(
      try scratch.run("get", store, "anna", "--keyspace", "scores", "--raw").output
        == Data([0xF9] + [UInt8](repeating: 0xFF, count: 7))
    )
    #expect(try scratch.run("put", store, "bert", "12", "--keyspace", "scores").status == 0)
    #expect(try scratch.run("put", store, "cleo", "-", "--keyspace", "scores", input: Data("13".utf8)).status == 0)
    #expect(try scratch.run("put", store, "7", #"{"title":"x"}"#, "--keyspace", "boards").status == 0)
    #expect(try scratch.run("get", store, "7", "--keyspace", "boards").text == #"{"title":"x"}"#)
    for (key, value, space) in [("dora", "many", "scores"), ("8", "{", "boards")] {
      let refused = try scratch.run("put", store, key, value, "--keyspace", space)
      #expect(refused.status == 64 && refused.errors.contains("or bytes with --raw"))
    }
    let opened = try LogStore(at: store)
    let scores = try opened.storage("scores", of: Int.self)
    #expect(try scores.values().sorted() == [-7, 12, 13])
    try opened.close()
    // What is of another form is shown as it is.
    #expect(try scratch.run("put", store, "dora", "many", "--keyspace", "scores", "--raw").status == 0)
    let other = try scratch.run("get", store, "dora", "--keyspace", "scores")
    #expect(other.status == 0 && other.text == "many" && other.errors.contains("not of the form int64"))
  }

  @Test func formsAreShown() throws {
    let scratch = try filled()
    let lines = try scratch.run("keyspaces", scratch.store).lines
    #expect(lines[1...].contains("1\t1\t128\t\t0\tint64\tcbor\tboards"))
    let object = try JSONSerialization.jsonObject(with: scratch.run("inspect", scratch.store, "--json").output)
    let manifest = try #require((object as? [String: Any])?["manifest"] as? [String: Any])
    let keyspaces = try #require(manifest["keyspaces"] as? [[String: Any]])
    #expect(keyspaces.map { $0["keyForm"] as? String } == [nil, "int64", "utf8", "utf8,uint16"])
    #expect(keyspaces.map { $0["valueForm"] as? String } == [nil, "cbor", "int64", "bool"])
    #expect(
      try scratch.run("keyspaces", scratch.store, "--json").lines.contains {
        $0.contains(#""keyForm":"int64","valueForm":"cbor""#)
      }
    )
  }

  @Test(arguments: ["ndjson", "csv", "binary"]) func dumpAndLoadLoseNothing(_ format: String) throws {
    let scratch = try filled()
    let dump = try scratch.run("dump", scratch.store, "--format", format)
    let copy = scratch.path("copy")
    #expect(try scratch.run("load", copy, "-", "--format", format, input: dump.output).status == 0)
    let store = try LogStore(at: copy)
    #expect(try store.keyspace("boards").keyForm == "int64" && store.keyspace("boards").valueForm == "cbor")
    #expect(try store.storage("boards", key: Int.self, of: Board.self).value(forKey: 42)?.squares == [1, -2, 3])
    try store.close()
  }

  @Test func documentsAreNotLoadedOverOtherForms() throws {
    let scratch = try filled()
    let line = Data("{\"id\":1}\n".utf8)
    let refused = try scratch.run("load", scratch.store, "-", "--key-field", "id", "--keyspace", "boards", input: line)
    #expect(refused.status == 64 && refused.errors.contains("documents are text"))
    #expect(
      try scratch.run("load", scratch.store, "-", "--key-field", "id", "--keyspace", "new", input: line).status == 0
    )
  }

  @Test func documentsAreLoadedIntoAStorageOfJSON() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    _ = try store.storage("documents", transformer: Transformer<[String: Int]>.json)
    try store.close()
    let arguments = ["load", scratch.store, "-", "--key-field", "id", "--keyspace", "documents", "-q"]
    #expect(try scratch.run(arguments, input: Data("{\"id\":1}\n".utf8)).status == 0)
    #expect(try scratch.run("get", scratch.store, "1", "--keyspace", "documents").text == "{\"id\":1}")
    let reopened = try LogStore(at: scratch.store)
    let documents = try reopened.storage("documents", transformer: Transformer<[String: Int]>.json)
    #expect(try documents.value(forKey: "1") == ["id": 1])
    try reopened.close()
  }
}
