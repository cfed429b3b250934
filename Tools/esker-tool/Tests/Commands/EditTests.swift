import Esker
import EskerCBOR
import Foundation
import Testing

@testable import esker_tool

/// Changing values that a program has stored, without another form.
@Suite struct EditTests {
  private struct City: Codable, Equatable {
    var name: String
    var founded: Date
    var id: UUID
    var seal: Data
    var site: URL
    var price: Decimal
    var height: Double
    var tags: [String]
  }

  private static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  private func city() throws -> City {
    City(
      name: "Wien",
      // More digits than a millisecond has.
      founded: Date(timeIntervalSinceReferenceDate: 794_059_200.123_456),
      id: Self.id,
      seal: Data([0, 0xFF]),
      site: try #require(URL(string: "https://wien.example")),
      price: Decimal(27315) / 100,
      height: .infinity,
      tags: ["a"]
    )
  }

  private func filled(expiry: Expiry = .never) throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.storage("cities", key: Int.self, of: City.self).set(try city(), forKey: 8, expiry: expiry)
    try store.storage("dates", of: Date.self).set(try city().founded, forKey: "d")
    try store.put("line\n", forKey: "text")
    try store.put([0xFF, 0] as [UInt8], forKey: "bytes")
    try store.close()
    return scratch
  }

  private func stored(_ scratch: Scratch) throws -> City? {
    let store = try LogStore(at: scratch.store)
    defer { try? store.close() }
    return try store.storage("cities", key: Int.self, of: City.self).value(forKey: 8)
  }

  /// Edits with a line of shell as the editor; what is left behind is in the test's own directory.
  private func edit(_ scratch: Scratch, _ arguments: String, editor: String) throws -> ToolResult {
    let script = try scratch.file("editor", Array("#!/bin/sh\n\(editor)\n".utf8))
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
    let directory = scratch.directory.path
    return try scratch.shell(
      "TMPDIR='\(directory)' TOOL=\"$0\" STORE=\"$1\" VISUAL= EDITOR='\(script)' \"$0\" edit \"$1\" \(arguments)"
    )
  }

  // MARK: get and put

  @Test func whatGetMarksPutTakesBack() throws {
    let scratch = try filled()
    let marked = try scratch.run("get", scratch.store, "8", "--keyspace", "cities", "--marked")
    #expect(marked.status == 0 && marked.text.contains(#""founded":{"$date":"#) && marked.errors.isEmpty)
    #expect(
      try scratch.run("get", scratch.store, "8", "--keyspace", "cities", "--decode", "marked").text == marked.text
    )
    let listed = try scratch.run("list", scratch.store, "--keyspace", "cities", "--values", "--decode", "marked")
    #expect(listed.text.contains("$uuid"))
    let put = try scratch.run("put", scratch.store, "8", "-", "--keyspace", "cities", input: marked.output)
    #expect(put.status == 0 && put.errors.isEmpty, "\(put.errors)")
    #expect(try stored(scratch) == city())
    #expect(try scratch.run("get", scratch.store, "8", "--keyspace", "cities", "--marked", "--raw").status == 64)
  }

  @Test func aPutThatChangesTypesSaysSo() throws {
    let scratch = try filled()
    let plain = try scratch.run("get", scratch.store, "8", "--keyspace", "cities")
    let put = try scratch.run("put", scratch.store, "8", "-", "--keyspace", "cities", input: plain.output)
    #expect(put.status == 0)
    #expect(put.errors.contains("founded was an instant and is a text"), "\(put.errors)")
    #expect(put.errors.contains("id was a UUID and is a text") && put.errors.contains("esker edit"))
    #expect(put.errors.split(separator: "\n").count == 1)
    let other = try scratch.run("put", scratch.store, "8", #"{"name":"x","size":1}"#, "--keyspace", "cities")
    #expect(other.status == 0 && other.errors.contains("founded is gone"), "\(other.errors)")
    // Another key of the same keyspace.
    let new = try scratch.run("put", scratch.store, "9", #"{"name":5}"#, "--keyspace", "cities")
    #expect(new.status == 0 && new.errors.contains("name is a number, and a text in another entry"), "\(new.errors)")
    #expect(try scratch.run("put", scratch.store, "9", #"{"name":"a"}"#, "--keyspace", "cities", "-q").errors.isEmpty)
    #expect(try scratch.run("put", scratch.store, "9", #"{"name":"b"}"#, "--keyspace", "cities").errors.isEmpty)
  }

  @Test func theVersionOfAValueIsKept() throws {
    let scratch = try filled()
    let store = try LogStore(at: scratch.store)
    let cities = try store.keyspace("cities")
    let key = try #require(StoredForm("int64", of: .keys).bytes(of: "8"))
    let value = try #require(try cities.get(key))
    try cities.put(StoredForm.mark(ofVersion: 3) + value, forKey: key)
    try store.close()
    let marked = try scratch.run("get", scratch.store, "8", "--keyspace", "cities", "--marked")
    #expect(
      try scratch.run("put", scratch.store, "8", "-", "--keyspace", "cities", input: marked.output).status == 0
    )
    let edited = try edit(scratch, "8 --keyspace cities", editor: "sed -i.old s/Wien/Bern/ \"$1\"")
    #expect(edited.status == 0, "\(edited.errors)")
    let reopened = try LogStore(at: scratch.store)
    let bytes = try #require(try reopened.keyspace("cities").get(key))
    #expect(StoredForm.version(of: bytes) == 3)
    #expect(bytes.firstRange(of: Array("Bern".utf8)) != nil)
    try reopened.close()
  }

  // MARK: edit

  @Test func whatIsEditedKeepsItsTypesAndExpiry() throws {
    let scratch = try filled(expiry: .at(WallTime(millisecondsSince1970: 4_000_000_000_000)))
    let edited = try edit(
      scratch,
      "8 --keyspace cities",
      editor: "sed s/Wien/Bern/ \"$1\" > \"$1.new\"; mv \"$1.new\" \"$1\""
    )
    #expect(edited.status == 0, "\(edited.errors)")
    #expect(edited.lines == [#"-   "name": "Wien","#, #"+   "name": "Bern","#])
    var city = try city()
    city.name = "Bern"
    #expect(try stored(scratch) == city)
    #expect(try scratch.run("ttl", scratch.store, "8", "--keyspace", "cities", "--json").text.contains("2096-10-02T"))
    // VISUAL goes before EDITOR.
    let same = try scratch.shell("VISUAL=true EDITOR=false \"$0\" edit \"$1\" 8 --keyspace cities")
    #expect(same.status == 0 && same.text.isEmpty && same.errors.contains("nothing was changed"))
  }

  @Test func whatPutMadeOfJSONIsEditedWhereNothingIsRecorded() throws {
    let scratch = try Scratch()
    let put = try scratch.run("put", scratch.store, "42", #"{"title":"Go"}"#, "--keyspace", "boards", "--json")
    #expect(put.status == 0)
    let edited = try edit(scratch, "42 --keyspace boards", editor: "sed -i.old s/Go/Chess/ \"$1\"")
    #expect(edited.status == 0 && edited.text.contains("Chess"), "\(edited.errors)")
    let value = try scratch.run("get", scratch.store, "42", "--keyspace", "boards", "--decode", "cbor")
    #expect(value.text == #"{"title":"Chess"}"#)
  }

  @Test func anEditThatChangesTypesSaysSo() throws {
    let scratch = try filled()
    let edited = try edit(scratch, "8 --keyspace cities", editor: "sed -i.old 's/\"Wien\"/7/' \"$1\"")
    #expect(edited.status == 0 && edited.errors.contains("name was a text and is a number"), "\(edited.errors)")
  }

  @Test func whatIsNotOfTheFormIsNotWritten() throws {
    let scratch = try filled()
    let broken = try edit(scratch, "8 --keyspace cities", editor: "echo '{mine' > \"$1\"")
    #expect(broken.status == 64 && broken.errors.contains("not of the form cbor"), "\(broken.errors)")
    // What was typed is not lost.
    let kept = String(broken.errors.split(separator: " ").last ?? "").trimmingCharacters(in: .newlines)
    #expect(try String(contentsOfFile: kept, encoding: .utf8) == "{mine\n")
    let failed = try edit(scratch, "8 --keyspace cities", editor: "exit 3")
    #expect(failed.status == 74 && failed.errors.contains("ended with 3"), "\(failed.errors)")
    #expect(try stored(scratch) == city())
    #expect(try edit(scratch, "none", editor: "true").status == 1)
    #expect(try edit(scratch, "bytes", editor: "true").status == 64)
  }

  @Test func aValueThatHasChangedMeanwhileIsNotReplaced() throws {
    let scratch = try filled()
    let result = try edit(scratch, "text", editor: "\"$TOOL\" put \"$STORE\" text other; echo mine > \"$1\"")
    #expect(result.status == 1 && result.errors.contains("has changed meanwhile"), "\(result.errors)")
    #expect(try scratch.run("get", scratch.store, "text").text == "other")
    let kept = String(result.errors.split(separator: " ").last ?? "").trimmingCharacters(in: .newlines)
    #expect(try String(contentsOfFile: kept, encoding: .utf8) == "mine\n")
  }

  @Test func textKeepsItsLastLine() throws {
    let scratch = try filled()
    #expect(try edit(scratch, "text", editor: "echo row > \"$1\"").status == 0)
    #expect(try scratch.run("get", scratch.store, "text").text == "row\n")
    #expect(try scratch.run("put", scratch.store, "text", "none").status == 0)
    // An editor ends the last line, which the value does not.
    #expect(try edit(scratch, "text", editor: "echo new > \"$1\"").status == 0)
    #expect(try scratch.run("get", scratch.store, "text").text == "new")
    #expect(try edit(scratch, "d --keyspace dates", editor: "true").status == 0)
  }
}
