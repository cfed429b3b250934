import Foundation
import Testing

@Suite struct GzipTests {
  /// What `gzip` makes of the bytes.
  private func gzip(_ scratch: Scratch, _ name: String, _ contents: some Sequence<UInt8>) throws -> Data {
    let plain = try scratch.file(name, contents)
    #expect(try scratch.shell("gzip -c < '\(plain)' > '\(plain).packed'").status == 0)
    return try Data(contentsOf: URL(fileURLWithPath: plain + ".packed"))
  }

  private func documents(_ numbers: Range<Int>) -> Data {
    Data(
      numbers.map { "{\"id\":\"key \($0)\",\"text\":\"\(String(repeating: "x", count: $0 % 100))\"}\n" }.joined().utf8
    )
  }

  /// Whatever the file is called, and from a pipe, too.
  @Test func whatIsCompressedIsLoaded() throws {
    let scratch = try Scratch()
    let packed = try gzip(scratch, "a", documents(0..<5_000)) + gzip(scratch, "b", documents(5_000..<5_010))
    let file = try scratch.file("documents.ndjson", packed)
    let result = try scratch.run("load", scratch.store, file, "--key-field", "id")
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("loaded 5,010 records"))
    #expect(
      try scratch.run("load", scratch.store, "-", "--key-field", "id", input: packed + Data(count: 512)).status == 0
    )
    #expect(try scratch.run("count", scratch.store).text == "5010\n")
    // A name does not make it compressed.
    let plain = try scratch.file("plain.ndjson.gz", documents(0..<3))
    #expect(try scratch.run("load", scratch.path("other"), plain, "--key-field", "id").status == 0)
    for few in [Data(), Data("\n".utf8)] {
      #expect(try scratch.run("load", scratch.store, "-", "--key-field", "id", input: few).status == 0)
    }
  }

  @Test func aDumpIsCompressedIfItsNameSaysSo() throws {
    let scratch = try Scratch()
    _ = try scratch.run("load", scratch.store, "-", "--key-field", "id", input: documents(0..<20_000))
    for name in ["all.ndjson.gz", "all.csv.gz", "all.stream.gz"] {
      let format = name == "all.stream.gz" ? ["--format", "binary"] : []
      #expect(try scratch.run(["dump", scratch.store, scratch.path(name)] + format).status == 0)
      let sizes = try scratch.shell("gzip -t '\(scratch.path(name))' && gzip -dc '\(scratch.path(name))' | wc -c")
      let length = try Data(contentsOf: URL(fileURLWithPath: scratch.path(name))).count
      #expect(try #require(Int(sizes.text.trimmingCharacters(in: .whitespacesAndNewlines))) > 3 * length)
      let copy = scratch.path("of \(name)")
      let loaded = try scratch.run([
        "load", copy, scratch.path(name), "--format",
        name.contains("csv") ? "csv" : name.contains("nd") ? "ndjson" : "binary",
      ])
      #expect(loaded.status == 0, "\(loaded.errors)")
      #expect(try scratch.run("diff", scratch.store, copy).status == 0)
    }
  }

  @Test func aLoadOfACompressedFileIsResumed() throws {
    let scratch = try Scratch()
    let bad = try scratch.file("in", gzip(scratch, "a", documents(0..<30_000) + Data("nothing\n".utf8)))
    let arguments = ["load", scratch.store, bad, "--key-field", "id", "--resume"]
    #expect(try scratch.run(arguments).status == 1)
    _ = try scratch.file("in", gzip(scratch, "b", documents(0..<30_100)))
    let result = try scratch.run(arguments)
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("loaded 100 records") && result.errors.contains("30,000 earlier"))
  }

  @Test func damageAndAMissingEndAreErrors() throws {
    let scratch = try Scratch()
    let packed = try gzip(scratch, "a", documents(0..<5_000))
    func load(_ input: Data) throws -> ToolResult {
      try scratch.run("load", scratch.store, "-", "--key-field", "id", "--quiet", input: input)
    }
    let cut = try load(packed.dropLast(5))
    #expect(cut.status == 1)
    #expect(cut.errors == "esker: the gzip data of standard input cannot be read: ends too early\n")
    var flipped = packed
    flipped[flipped.count - 6] ^= 1
    #expect(try load(flipped).errors == "esker: the gzip data of standard input cannot be read: incorrect data check\n")
    let trailing = try load(packed + Data("more".utf8))
    #expect(trailing.status == 1)
    #expect(trailing.errors == "esker: the gzip data of standard input cannot be read: incorrect header check\n")
  }

  /// A value is stored as it is.
  @Test func putTakesBytes() throws {
    let scratch = try Scratch()
    let packed = try gzip(scratch, "a", documents(0..<3))
    #expect(try scratch.run("put", scratch.store, "k", "-", input: packed).status == 0)
    #expect(try scratch.run("get", scratch.store, "k").output == packed)
  }
}
