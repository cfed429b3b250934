import Foundation
import Testing

/// What `mdb_dump` and `db_dump` write.
@Suite struct LoadMDBTests {
  private static let header =
    "VERSION=3\nformat=print\ntype=btree\nmapsize=1048576\nmaxreaders=126\ndb_pagesize=4096\nHEADER=END\n"

  private func load(_ scratch: Scratch, _ text: String, _ options: String...) throws -> ToolResult {
    try scratch.run(["load", scratch.store, "-", "--format", "mdb", "--quiet"] + options, input: Data(text.utf8))
  }

  @Test func printedBytesAreLoaded() throws {
    let scratch = try Scratch()
    let text = Self.header + " a\n one\n b\\\\c\n \\00\\ff\\5C \n \n \nDATA=END\n"
    let result = try load(scratch, text)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try scratch.run("get", scratch.store, "a").text == "one")
    #expect(try scratch.run("get", scratch.store, "b\\c").output == Data([0, 255, 0x5C, 0x20]))
    #expect(try scratch.run("get", scratch.store, "").output.isEmpty)
    #expect(try scratch.run("count", scratch.store).text == "3\n")
  }

  @Test func databasesBecomeKeyspaces() throws {
    let scratch = try Scratch()
    let text = """
      VERSION=3
      format=bytevalue
      database=cities
      type=btree
      HEADER=END
       6174
       5669656e6E61
      DATA=END
      VERSION=3
      format=bytevalue
      type=hash
      HEADER=END
       61
       62
      DATA=END

      """
    #expect(try load(scratch, text, "--ttl", "1h").status == 0)
    #expect(try scratch.run("get", scratch.store, "at", "--keyspace", "cities").text == "Vienna")
    #expect(try scratch.run("get", scratch.store, "a").text == "b")
    #expect(try !scratch.run("ttl", scratch.store, "a").text.isEmpty)
  }

  @Test(arguments: [
    ("", 0, "the input ends where a header was expected"),
    ("{}\n", 1, "not a dump of mdb_dump or db_dump, which begins with VERSION=3"),
    ("VERSION=2\n", 1, "version 2 of the format is not known"),
    ("VERSION=3\nformat=other\n", 2, "the format \"other\" is not known"),
    ("VERSION=3\ntype=recno\n", 2, "databases of the type recno have no keys"),
    ("VERSION=3\n", 1, "the input ends where a header was expected"),
    ("VERSION=3\nHEADER=END\n", 2, "the input ends before DATA=END"),
    ("VERSION=3\nHEADER=END\n 61\nDATA=END\n", 4, "a key without a value"),
    ("VERSION=3\nHEADER=END\n 6\n 61\n", 3, "a key is not written as this format writes bytes"),
    ("VERSION=3\nHEADER=END\n 61\n 6g\n", 4, "a value is not written as this format writes bytes"),
    ("VERSION=3\nHEADER=END\nx\n", 3, "neither an entry, which begins with a space, nor DATA=END"),
    ("VERSION=3\nformat=print\nHEADER=END\n a\\\n b\n", 4, "a key is not written as this format writes bytes"),
    ("VERSION=3\nformat=print\nHEADER=END\n a\\0\n b\n", 4, "a key is not written as this format writes bytes"),
  ]) func whatIsNoDumpIsRefused(_ text: String, _ line: Int, _ why: String) throws {
    let scratch = try Scratch()
    let result = try load(scratch, text)
    #expect(result.status == 1)
    #expect(result.errors == "esker: line \(line): \(why)\n")
  }

  @Test func badEntriesMayBeSkipped() throws {
    let scratch = try Scratch()
    let result = try load(scratch, Self.header + " \\zz\n x\n a\n b\nDATA=END\n", "--skip-bad")
    #expect(result.status == 0)
    #expect(try scratch.run("get", scratch.store, "a").text == "b")
    for option in [["--key-field", "id"], ["--resume"]] {
      #expect(try scratch.run(["load", scratch.store, "-", "--format", "mdb"] + option).status == 64)
    }
    #expect(try scratch.run("dump", scratch.store, "--format", "mdb").status == 64)
  }

  @Test func aSegmentSizeIsRemembered() throws {
    let scratch = try Scratch()
    #expect(try load(scratch, Self.header + "DATA=END\n", "--segment-size", "1MiB").status == 0)
    #expect(try scratch.run("stats", scratch.store, "--json").text.contains("\"segmentSize\":1048576"))
    let wrong = try load(scratch, Self.header + "DATA=END\n", "--segment-size", "1")
    #expect(wrong.status == 64)
  }
}
