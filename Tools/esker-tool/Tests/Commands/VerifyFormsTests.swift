import Esker
import Foundation
import Testing

@testable import esker_tool

/// Whether entries have the forms that their keyspaces record, and what values are made of.
@Suite struct VerifyFormsTests {
  private struct Board: Codable {
    var title: String
    var squares: [Int]
    var note: String?
  }

  /// A store in which all is as it should be.
  private func sound() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let boards = try store.storage("boards", key: Int.self, of: Board.self)
    for number in 1...6 {
      try boards.set(Board(title: "b", squares: [number], note: number == 4 ? "x" : nil), forKey: number)
    }
    try store.storage("scores", of: Int.self).set(7, forKey: "anna")
    try store.storage("visits", key: CompositeKey<String, Data>.self, of: Bool.self)
      .set(true, forKey: CompositeKey("a\0b", Data([0xFF, 0])))
    let users = Transformer<Board>.json.versioned(2) { _, bytes in try Transformer<Board>.json.decode(bytes) }
    try store.storage("users", transformer: users).set(Board(title: "u", squares: []), forKey: "u")
    try store.storage("users", transformer: .json).set(Board(title: "old", squares: []), forKey: "v")
    let packed = Transformer<Board>.binary.versioned(3).then(.lz4).then(.checksum)
    try store.storage("packed", transformer: packed).set(Board(title: "p", squares: [1]), forKey: "p")
    try store.put([0xFF, 0xFE] as [UInt8], forKey: "anything")
    try store.storage("gone", of: Int.self).transform(to: Transformer<String>.utf8)
      .set("no number", forKey: "gone", expiry: .at(WallTime(millisecondsSince1970: 1)))
    try store.close()
    return scratch
  }

  @Test func whatHasTheRecordedFormIsFound() throws {
    let scratch = try sound()
    let result = try scratch.run("verify", scratch.store, "--forms")
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let lines = result.lines
    #expect(lines.first?.hasPrefix("checked ") == true && lines.last == "read 12 entries: all of the recorded forms")
    #expect(!result.text.contains("NOT OF THE FORM"))
    for row in [
      "6\tint64\tcbor\tboards", "1\t\t\t", "1\tutf8,bytes\tbool\tvisits",
      "1\tusers\t2\tu", "1\tpacked\t3\tp",
      "6\tboards\t.\tan object\t1, 2, 3, 4, 5", "6\tboards\ttitle\ta text\t1, 2, 3, 4, 5",
      "6\tboards\tsquares[]\ta number\t1, 2, 3, 4, 5", "1\tboards\tnote\ta text\t4", "2\tusers\tsquares\ta list\tu, v",
      "1\tpacked\ttitle\ta text\tp",
    ] {
      #expect(lines.contains(row), "\(row) in \(result.text)")
    }
    #expect(try scratch.run("verify", scratch.store, "--forms", "-q").text.isEmpty)
    // Without the option all is as it was.
    #expect(try scratch.run("verify", scratch.store).lines.count == 1)
  }

  /// The same with an entry of each kind that has another form.
  private func unsound() throws -> Scratch {
    let scratch = try sound()
    let store = try LogStore(at: scratch.store)
    let boards = try store.keyspace("boards")
    try boards.put("{\"title\":1}", forKey: Int.keyTransformer.encode(7))
    try boards.put("plain", forKey: Int.keyTransformer.encode(8))
    try boards.put([0xFF, 1, 2] as [UInt8], forKey: Int.keyTransformer.encode(9))
    try boards.put([UInt8](), forKey: Int.keyTransformer.encode(10))
    try boards.put("plain", forKey: Int.keyTransformer.encode(11))
    try boards.put([0xA0] as [UInt8], forKey: "abc")
    try store.keyspace("scores").put("many", forKey: "bert")
    try store.keyspace("visits").put([2] as [UInt8], forKey: "one part")
    try store.keyspace("users").put("{", forKey: "w")
    try store.keyspace("users").put([0xE5, 0x6B, 0x72, 0x76, 9, 0] + Array("[".utf8), forKey: "x")
    try store.keyspace("packed").put("not compressed", forKey: "q")
    try store.close()
    return scratch
  }

  @Test func whatHasAnotherFormIsGroupedAndNamed() throws {
    let scratch = try unsound()
    let result = try scratch.run("verify", scratch.store, "--forms")
    #expect(result.status == 1 && result.errors.isEmpty, "\(result.errors)")
    let lines = result.lines
    #expect(lines.last == "read 23 entries: 12 not of the recorded form")
    for row in [
      "1\tboards\tcbor\tvalue\tJSON\t7", "2\tboards\tcbor\tvalue\ttext\t8, 11",
      "1\tboards\tcbor\tvalue\tother bytes\t9",
      "1\tboards\tcbor\tvalue\tnothing\t10", "1\tboards\tint64\tkey\t3 bytes\tabc",
      "1\tscores\tint64\tvalue\t4 bytes\tbert", "1\tvisits\tutf8,bytes\tkey\tfewer parts\tone part",
      "1\tvisits\tbool\tvalue\tanother byte\tone part", "2\tusers\tjson\tvalue\ttext\tw, x",
      "1\tpacked\tcbor+lz4+crc32c\tvalue\tnot whole\tq", "1\tusers\t9\tx",
    ] {
      #expect(lines.contains(row), "\(row) in \(result.text)")
    }
    let one = try scratch.run("verify", scratch.store, "--forms", "--keyspace", "scores", "-q")
    #expect(one.status == 1 && one.lines.last == "read 2 entries: 1 not of the recorded form")
    #expect(!one.text.contains("boards") && !one.text.contains("checked"))
  }

  @Test func fieldsOfJSONKeepTheirNames() throws {
    let scratch = try unsound()
    let result = try scratch.run("verify", scratch.store, "--forms", "--json")
    #expect(result.status == 1)
    let object = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
    #expect(object.keys.sorted() == ["bytes", "damage", "files", "forms", "records"])
    let forms = try #require(object["forms"] as? [String: Any])
    #expect(forms.keys.sorted() == ["damaged", "keyspaces"] && forms["damaged"] as? Int == 0)
    let keyspaces = try #require(forms["keyspaces"] as? [[String: Any]])
    let boards = try #require(keyspaces.first { $0["name"] as? String == "boards" })
    #expect(
      boards.keys.sorted() == ["entries", "fields", "keyForm", "misfits", "name", "valueForm", "versions"]
    )
    let misfits = try #require(boards["misfits"] as? [[String: Any]])
    let text = try #require(misfits.first { $0["found"] as? String == "text" })
    #expect(text["part"] as? String == "value" && text["form"] as? String == "cbor" && text["entries"] as? Int == 2)
    #expect((text["samples"] as? [[String: String]])?.map { $0["key"] } == ["8", "11"])
    let fields = try #require(boards["fields"] as? [[String: Any]])
    #expect(
      fields.contains {
        $0["field"] as? String == "note" && $0["is"] as? String == "a text" && $0["entries"] as? Int == 1
      }
    )
    #expect(try scratch.run("verify", scratch.store, "--keyspace", "boards").status == 64)
    #expect(try scratch.run("verify", scratch.store, "--forms", "--keyspace", "none").status == 1)
  }

  @Test func damageIsLeftOut() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let scores = try store.storage("scores", of: String.self)
    for name in ["anna", "bert"] { try scores.set("the score of \(name)", forKey: name) }
    try store.close()
    let segment = try #require(try SampleStore.segments(scratch.store).first)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.store + "/" + segment))
    let place = try #require(bytes.range(of: Data("the score of bert".utf8)))
    try SampleStore.flip(scratch.store, segment, at: place.lowerBound)
    let result = try scratch.run("verify", scratch.store, "--forms")
    #expect(result.status == 1 && result.text.contains("1 damaged range, 1 record"))
    #expect(result.lines.last == "read 1 entry: all of the recorded forms, 1 damaged record left out", "\(result.text)")
  }

  @Test func kindsAreBounded() {
    var groups = FormReport.Groups<Int>(most: 3)
    for number in 0..<100 { groups.add(number % 10, Array("\(number)".utf8)) }
    #expect(groups.all.map(\.kind) == [0, 1, 2] && groups.all.allSatisfy { $0.entries == 10 && $0.samples.count == 5 })
    #expect(groups.others == 70)
  }
}
