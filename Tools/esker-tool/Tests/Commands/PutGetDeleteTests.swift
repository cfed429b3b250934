import EskerTestSupport
import Foundation
import Testing

@Suite struct PutGetDeleteTests {
  @Test func valueComesBackByteForByteAndWithoutNewline() throws {
    let scratch = try Scratch()
    let put = try scratch.run("put", scratch.store, "at", "Vienna")
    #expect(put.status == 0 && put.output.isEmpty && put.errors.isEmpty)
    let get = try scratch.run("get", scratch.store, "at")
    #expect(get.status == 0 && get.text == "Vienna" && get.errors.isEmpty)
  }

  @Test func absentKeyExitsWith1() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "b")
    let get = try scratch.run("get", scratch.store, "b")
    #expect(get.status == 1 && get.output.isEmpty)
    #expect(get.errors == "esker: no value for key \"b\"\n")
  }

  @Test func binaryValueFromStandardInputIsKept() throws {
    let scratch = try Scratch()
    var value = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    value.append(contentsOf: [0, 10, 13, 255])
    #expect(try scratch.run("put", scratch.store, "bin", "-", input: value).status == 0)
    #expect(try scratch.run("get", scratch.store, "bin").output == value)
  }

  @Test func emptyValueIsAValue() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "a", "").status == 0)
    #expect(try scratch.run("put", scratch.store, "b", "-").status == 0)
    for key in ["a", "b"] {
      let get = try scratch.run("get", scratch.store, key)
      #expect(get.status == 0 && get.output.isEmpty)
    }
  }

  @Test(arguments: ["a\nb", "🏔️ é", "../../etc/passwd", "", " ", "\u{1}\u{7F}", "--"])
  func unusualKeyIsKept(key: String) throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "--", key, "value").status == 0)
    #expect(try scratch.run("get", scratch.store, "--", key).text == "value")
    #expect(try scratch.run("list", scratch.store, "--null").text == key + "\0")
    #expect(try scratch.run("delete", scratch.store, "--", key).status == 0)
    #expect(try scratch.run("get", scratch.store, "--", key).status == 1)
  }

  @Test func keyThatIsTooLongExitsWith64() throws {
    let scratch = try Scratch()
    let longest = String(repeating: "k", count: 65_535)
    #expect(try scratch.run("put", scratch.store, longest, "v").status == 0)
    #expect(try scratch.run("get", scratch.store, longest).text == "v")
    let put = try scratch.run("put", scratch.store, longest + "k", "v")
    #expect(put.status == 64)
    #expect(put.errors.hasPrefix("esker: the key has 65536 bytes"))
  }

  @Test func argumentThatIsNotUTF8ExitsWith64AndStoresNothing() throws {
    let scratch = try Scratch()
    let put = try scratch.shell(#""$0" put "$1" "$(printf '\377')" value"#)
    #expect(put.status == 64)
    #expect(put.errors.contains("not valid UTF-8"))
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func valueExpiresAfterItsTimeToLive() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "short", "v", "--ttl", "1ms").status == 0)
    #expect(try scratch.run("put", scratch.store, "long", "v", "--ttl", "7d").status == 0)
    let last = Date().addingTimeInterval(0.002)
    #expect(eventually { Date() > last })
    #expect(try scratch.run("get", scratch.store, "short").status == 1)
    #expect(try scratch.run("get", scratch.store, "long").status == 0)
    #expect(try scratch.run("count", scratch.store).text == "1\n")
    #expect(try scratch.run("list", scratch.store).text == "long\n")
  }

  @Test(arguments: ["5", "s", "-1s", "0s", "1.5h", "5 m", "99999999999999999d", "5M", ""])
  func malformedTimeToLiveExitsWith64(duration: String) throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "a", "b", "--ttl=\(duration)").status == 64)
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func keyspacesAreApart() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "k", "default")
    #expect(try scratch.run("put", scratch.store, "k", "named", "--keyspace", "names", "--synced").status == 0)
    #expect(try scratch.run("get", scratch.store, "k").text == "default")
    #expect(try scratch.run("get", scratch.store, "k", "--keyspace", "names").text == "named")
    #expect(try scratch.run("delete", scratch.store, "k", "--keyspace", "names").status == 0)
    #expect(try scratch.run("get", scratch.store, "k").status == 0)
    for command in ["get", "delete"] {
      let result = try scratch.run(command, scratch.store, "k", "--keyspace", "other")
      #expect(result.status == 1 && result.errors.contains("no keyspace \"other\""))
    }
  }

  @Test func deleteExitsWith1OnlyIfNoneWasThere() throws {
    let scratch = try Scratch()
    for key in ["a", "b"] { _ = try scratch.run("put", scratch.store, key, "v") }
    #expect(try scratch.run("delete", scratch.store, "x", "a", "y").status == 0)
    #expect(try scratch.run("delete", scratch.store, "a").status == 1)
    #expect(try scratch.run("delete", scratch.store, "a", "x").errors == "esker: none of the 2 keys exists\n")
    #expect(try scratch.run("delete", scratch.store, "b", "--synced").status == 0)
    #expect(try scratch.run("count", scratch.store).text == "0\n")
  }
}
