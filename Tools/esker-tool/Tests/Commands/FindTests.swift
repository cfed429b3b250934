import Esker
import Foundation
import Testing

@testable import esker_tool

/// Which entries `list`, `dump` and `count` take, and in which order.
@Suite struct FindTests {
  private struct Person: Codable {
    var name: String
    var age: Int
    var tags: [String] = []
    var home: [String: String] = [:]
  }

  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let people = try store.storage("people", key: Int.self, of: Person.self)
    try people.set(
      Person(name: "Anna", age: 9, tags: ["a", "b"], home: ["city": "Wien"]),
      forKey: 9,
      expiry: .after(.seconds(900))
    )
    try people.set(
      Person(name: "Bert \"B\" é", age: 10, home: ["city": "Graz"]),
      forKey: 10,
      expiry: .after(.seconds(90))
    )
    try people.set(Person(name: "Cleo", age: 100, tags: ["b"]), forKey: -100)
    try store.put(#"{"city":"Wien","size":2000000,"on":true}"#, forKey: "doc:at")
    try store.put(#"{"city":"Bern","size":1.5e5,"on":null}"#, forKey: "doc:ch")
    try store.put("plain Wien", forKey: "text")
    try store.put([0xFF, 0x00] as [UInt8], forKey: [0xFF, 0x00] as [UInt8])
    try store.close()
    return scratch
  }

  private func list(_ scratch: Scratch, _ arguments: String...) throws -> [String] {
    let result = try scratch.run(["list", scratch.store] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    return result.lines
  }

  // MARK: Patterns

  @Test(
    arguments: [
      ("*", "", true), ("*", "abc", true), ("a*c", "abbc", true), ("a*c", "abcd", false), ("?", "é", true),
      ("??", "é", false), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("[^a]", "b", true), ("[]]", "]", true),
      ("[a-]", "-", true), (#"\*"#, "*", true), (#"\*"#, "a", false), ("user:*:name", "user:17:name", true),
      ("*a*b*", "xxaxxbxx", true), ("*a*b*", "xxbxxaxx", false), ("", "", true), ("", "a", false), ("a", "", false),
      ("**", "ab", true), ("*ab", "aab", true), ("[а-я]?", "жx", true),
    ]
  )
  func globs(_ pattern: String, _ text: String, _ matches: Bool) throws {
    #expect(try #require(Glob(argument: pattern)).matches(Array(text.utf8)) == matches)
  }

  @Test(arguments: ["[", "[a", "[]", "a\\", "[z-a]", "[a-\\"]) func brokenGlobsAreRefused(_ pattern: String) {
    #expect(Glob(argument: pattern) == nil)
  }

  @Test func aHostileGlobEnds() throws {
    let glob = try #require(Glob(argument: String(repeating: "*a", count: 50) + "b"))
    #expect(!glob.matches([UInt8](repeating: UInt8(ascii: "a"), count: 10_000)))
    #expect(try #require(Glob(argument: "??")).matches([0xFF, 0x80]))
  }

  // MARK: Conditions

  private static let json =
    #" { "a" : 1 , "b" : [ 10, "x", { "c" : "é\"" } ] , "big" : 9007199254740993, "n" : null, "a.b" : "q" , "t" : true } "#

  @Test(
    arguments: [
      ("a = 1", true), ("a==1.0", true), (".a != 1", false), ("a < 2", true), ("a<=1", true), ("a > 1", false),
      ("a >= 2", false), ("b[0] = 10", true), ("b[1] = x", true), ("b[1] = \"x\"", true), ("b[3] = null", true),
      (#"b[2].c = "é\"""#, true), ("b[2].c ~ é", true), ("b ~ x", true), ("b ~ 10", true), ("b ~ 1", false),
      ("big = 9007199254740993", true), ("big = 9007199254740992", false), ("n = null", true), ("none = null", true),
      ("none != 1", true), ("none < 1", false), (#"["a.b"] = q"#, true), ("t = true", true), ("t < true", false),
      ("t <= true", false), ("a = \"1\"", true), ("b[1] = \"10\"", false), ("b[2] ~ c", true), (". ~ a", true),
      (". ~ zzz", false),
      ("b[1] > w", true), ("a ~ 1", false), ("a.b = 1", false), ("b.c = 1", false), ("b[2].c != null", true),
    ]
  )
  func conditions(_ text: String, _ holds: Bool) throws {
    let result = try #require(Condition(argument: text)).holds(for: ContiguousArray(Self.json.utf8).span)
    #expect(result == holds, "\(text)")
  }

  @Test(arguments: ["", "a", "= 1", "a..b = 1", "a[ = 1", "a[x] = 1", "a[-1] = 1", "a[\"b] = 1", "a[0]b = 1"])
  func brokenConditionsAreRefused(_ text: String) throws {
    #expect(Condition(argument: text) == nil)
    let scratch = try Scratch()
    #expect(try scratch.run("count", scratch.store, "--where", text).status == 64)
  }

  // MARK: Commands

  @Test func keysAreChosenAsTheyArePrinted() throws {
    let scratch = try filled()
    #expect(try list(scratch, "--match", "doc:*").sorted() == ["doc:at", "doc:ch"])
    #expect(try list(scratch, "--match", "doc:?[th]", "--prefix", "doc:a") == ["doc:at"])
    #expect(try list(scratch, "--keyspace", "people", "--match", "1?") == ["10"])
    #expect(try list(scratch, "--keyspace", "people", "--prefix", "-") == ["-100"])
    #expect(try list(scratch, "--key-encoding", "hex", "--prefix", "ff") == ["ff00"])
    #expect(try list(scratch, "--key-encoding", "hex", "--match", "?f0*") == ["ff00"])
    #expect(try list(scratch, "--key-encoding", "hex", "--prefix", "fe") == [])
    #expect(try scratch.run("count", scratch.store, "--prefix", "doc:").text == "2\n")
    #expect(
      try scratch.run("count", scratch.store, "--key-encoding", "hex", "--prefix", "ff", "--json").text
        == "{\"keys\":1}\n"
    )
    #expect(try scratch.run("dump", scratch.store, "--match", "*:ch", "--keyspace", "").lines.count == 1)
    #expect(try scratch.run("dump", scratch.store, "--format", "csv", "--match", "*:ch").lines.count == 2)
  }

  @Test func valuesAreChosenByWhatTheyAre() throws {
    let scratch = try filled()
    #expect(try list(scratch, "--where", "city = Wien") == ["doc:at"])
    #expect(try list(scratch, "--where", "size < 1000000", "--where", "on = null") == ["doc:ch"])
    #expect(try list(scratch, "--where", ". ~ Wien") == ["text"])
    #expect(try list(scratch, "--keyspace", "people", "--where", "home.city = Graz") == ["10"])
    #expect(try list(scratch, "--keyspace", "people", "--where", "tags ~ b", "--where", "age > 9") == ["-100"])
    #expect(try list(scratch, "--keyspace", "people", "--where", "home.city = Graz", "--decode", "raw") == [])
    #expect(try scratch.run("count", scratch.store, "--keyspace", "people", "--where", "age >= 10").text == "2\n")
    // Over all keyspaces, each by its own form.
    #expect(try scratch.run("dump", scratch.store, "--where", "home.city = Wien").lines.count == 1)
    #expect(try scratch.run("dump", scratch.store, "--where", "city = Wien").lines.count == 1)
  }

  @Test func entriesComeInTheOrderAskedFor() throws {
    let scratch = try filled()
    #expect(try list(scratch, "--keyspace", "people", "--sort", "key") == ["-100", "9", "10"])
    #expect(try list(scratch, "--keyspace", "people", "--sort", "expiry") == ["10", "9", "-100"])
    #expect(try list(scratch, "--keyspace", "people", "--sort", "expiry", "--reverse", "--limit", "1") == ["-100"])
    #expect(
      try list(scratch, "--sort", "value-size", "--prefix", "doc").map { $0 } == ["doc:ch", "doc:at"]
    )
    let dumped = try scratch.run("dump", scratch.store, "--keyspace", "people", "--sort", "key", "--limit", "2").lines
    #expect(dumped.map { $0.contains(#""key":"-100""#) } == [true, false])
    #expect(try scratch.run("list", scratch.store, "--reverse").status == 64)
    #expect(try scratch.run("dump", scratch.store, "--format", "binary", "--limit", "1").status == 64)
    #expect(try scratch.run("count", scratch.store, "--limit", "2").text == "2\n")
    #expect(try scratch.run("count", scratch.store, "--limit", "-1").status == 64)
    #expect(try scratch.run("count", scratch.store, "--limit", "0").text == "0\n")
  }

  @Test func aLimitKeepsTheFirstOfManyInOrder() throws {
    let scratch = try Scratch()
    let lines = (0..<3000).map { "{\"id\":\"key \($0 * 7 % 3000)\"}\n" }.joined()
    #expect(try scratch.run("load", scratch.store, "-", "--key-field", "id", input: Data(lines.utf8)).status == 0)
    let all = try list(scratch, "--sort", "key")
    #expect(all == all.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) } && all.count == 3000)
    #expect(try list(scratch, "--sort", "key", "--limit", "10") == Array(all.prefix(10)))
    #expect(try list(scratch, "--sort", "key", "--reverse", "--limit", "10") == Array(all.reversed().prefix(10)))
  }

  @Test func damageIsReportedBesideWhatIsFound() throws {
    let scratch = try Scratch()
    let lines = (0..<20).map { "{\"id\":\"key \($0)\",\"size\":\($0)}\n" }.joined()
    #expect(try scratch.run("load", scratch.store, "-", "--key-field", "id", input: Data(lines.utf8)).status == 0)
    let name = try #require(SampleStore.segments(scratch.store).first)
    let whole = try list(scratch, "--sort", "key").count
    try SampleStore.flip(scratch.store, name, at: 500)
    for arguments in [["--sort", "key", "--values"], ["--where", "size >= 0"], ["--match", "key *", "--values"]] {
      let result = try scratch.run(["list", scratch.store] + arguments)
      #expect(result.status == 1 && result.lines.count == whole - 1, "\(arguments)")
      #expect(result.errors.hasPrefix("esker: ") && result.errors.contains(name))
    }
  }

  @Test func caseIsIgnoredIfAsked() throws {
    let scratch = try Scratch()
    let entries = [("Ärger:1", "{\"city\":\"WIEN\",\"tags\":[\"New\"]}"), ("b", "{\"city\":\"Graz\"}")]
    for (key, value) in entries { #expect(try scratch.run("put", scratch.store, key, value).status == 0) }
    for choice in [
      ["--prefix", "äRG"], ["--match", "ä*:1"], ["--match", "[à-ä]RGER:?"], ["--where", "city = wien"],
      ["--where", "city ~ iE"], ["--where", "tags ~ NEW"], ["--where", "city > haus"],
    ] {
      #expect(try scratch.run(["list", scratch.store, "--ignore-case"] + choice).text == "Ärger:1\n", "\(choice)")
      #expect(try scratch.run(["list", scratch.store] + choice).text.isEmpty, "\(choice)")
    }
  }
}
