import Foundation
import Testing

/// Lists that are fields of an object, as the classes in what Realm exports.
@Suite struct NamedListTests {
  /// As Realm Studio writes it: an object with a list for each class.
  private static let export = #"""
    {
      "Dog\u0031 [a],{b}": [{"_id": "d", "tags": ["]", "}"], "more": {"Person": [1]}}],
      "empty": [], "count": 2, "text": "\"Person\": [", "nothing": {},
      "Person" : [
        {"_id": {"$oid": "5f1"}, "name": "Ada", "dogs": ["d"]},
        {"_id": {"$oid": "5f2"}, "name": "Zoë"}
      ],
      "Person2": [{"_id": "x"}]
    }
    """#

  private func load(_ scratch: Scratch, _ text: String, _ list: String, _ key: String = "_id.$oid") throws -> ToolResult
  {
    try scratch.run("load", scratch.store, "-", "--list", list, "--key-field", key, input: Data(text.utf8))
  }

  @Test(arguments: ["", "\u{FEFF}\n"]) func theObjectsOfAClassAreLoaded(_ start: String) throws {
    let scratch = try Scratch()
    let load = try load(scratch, start + Self.export, "Person")
    #expect(load.status == 0 && load.errors.hasPrefix("loaded 2 records"), "\(load.errors)")
    #expect(try scratch.run("get", scratch.store, "5f2").text == #"{"_id": {"$oid": "5f2"}, "name": "Zoë"}"#)
    let dogs = try self.load(scratch, start + Self.export, "Dog1 [a],{b}", "_id")
    #expect(dogs.status == 0 && dogs.errors.hasPrefix("loaded 1 record "), "\(dogs.errors)")
    #expect(try self.load(scratch, Self.export, "Person2", "_id").errors.hasPrefix("loaded 1 record "))
    #expect(try self.load(scratch, Self.export, "empty", "_id").status == 0)
  }

  @Test(arguments: [
    ("{\"a\":[],\"b\":{}}", "c", "no list \"c\", there are a, b"), ("{}", "c", "no list \"c\""),
    ("", "c", "no object of JSON"),
    ("[{}]", "c", "no object of JSON"), ("{\"c\":{}}", "c", "\"c\" is no list"), ("{\"a\":1", "c", "ends too early"),
    ("{\"a\"", "c", "ends too early"), ("{\"a\":", "c", "ends too early"),
    ("{1:2}", "c", "a field's name was expected"),
    ("{\"a\\u00", "c", "ends too early"),
  ]) func whatIsNotThereIsNamed(_ text: String, _ list: String, _ why: String) throws {
    let scratch = try Scratch()
    let result = try load(scratch, text, list)
    #expect(result.status == 1 && result.errors.contains(why), "\(result.errors)")
  }

  @Test func whatComesBeforeTakesNoMemoryAndEveryPieceMayEndAnywhere() throws {
    let scratch = try Scratch()
    let long = (0..<100_000).map { "{\"i\":\"é\($0)\"}" }.joined(separator: ",")
    let text = "{\"é\":[\(long)],\"Person\":[{\"_id\":\"a\"}]}"
    let result = try scratch.run(
      ["load", scratch.store, "-", "--list", "Person", "--key-field", "_id", "--max-line", "100"],
      input: Data(text.utf8)
    )
    #expect(result.status == 0 && result.errors.hasPrefix("loaded 1 record "), "\(result.errors)")
  }

  @Test func aLoadOfOneIsResumedAndAnotherListIsAnotherInput() throws {
    let scratch = try Scratch()
    let file = try scratch.file("in", #"{"a":[{"id":1},{},{"id":2}],"b":[{"id":3}]}"#.utf8)
    let arguments = ["load", scratch.store, file, "--key-field", "id", "--resume", "--list"]
    #expect(try scratch.run(arguments + ["a"]).status == 1)
    #expect(try scratch.run(arguments + ["b"]).errors.contains("load it without --resume"))
    let resumed = try scratch.run(arguments + ["a", "--skip-bad"])
    #expect(resumed.status == 0 && resumed.errors.contains("; 1 earlier"), "\(resumed.errors)")
    #expect(try scratch.run("list", scratch.store, "--sort", "key").text == "1\n2\n")
    #expect(try scratch.run("load", scratch.store, file, "--list", "a").status == 64)
    // A mistyped name makes no store.
    let mistyped = try scratch.run("load", scratch.path("other"), file, "--list", "c", "--key-field", "id")
    #expect(mistyped.status == 1 && mistyped.errors.hasSuffix("no list \"c\", there are a, b\n"), "\(mistyped.errors)")
    #expect(!FileManager.default.fileExists(atPath: scratch.path("other")))
  }
}
