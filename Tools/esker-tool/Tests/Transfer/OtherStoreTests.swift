import Foundation
import Testing

/// What the programs of other stores write, by the programs themselves.
@Suite struct OtherStoreTests {
  /// Three entries: of text, of bytes, and of nothing.
  private static let bytes =
    "VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n 6174\n 5669656e6e61\n 00ff\n 780a\n 656d707479\n \nDATA=END\n"

  private func check(_ scratch: Scratch, _ place: SourceLocation = #_sourceLocation) throws {
    #expect(try scratch.run("count", scratch.store).text == "3\n", sourceLocation: place)
    #expect(try scratch.run("get", scratch.store, "at").text == "Vienna", sourceLocation: place)
    #expect(
      try scratch.run("get", scratch.store, "00ff", "--key-encoding", "hex").output == Data([0x78, 0x0A]),
      sourceLocation: place
    )
    #expect(try scratch.run("get", scratch.store, "empty").output.isEmpty, sourceLocation: place)
  }

  @Test(.needs("mdb_load", "mdb_dump", package: "lmdb-utils"), arguments: ["", "-p"])
  func lmdb(_ option: String) throws {
    let scratch = try Scratch()
    _ = try scratch.file("in", Self.bytes.utf8)
    try scratch.succeed("mdb_load -n -f in a.lmdb && mdb_dump -n \(option) a.lmdb | \"$0\" load store -")
    try check(scratch)
  }

  @Test(.needs("mdb_load", "mdb_dump", package: "lmdb-utils"))
  func databasesOfLMDB() throws {
    let scratch = try Scratch()
    _ = try scratch.file("in", Self.bytes.replacing("type=btree", with: "database=cities\ntype=btree").utf8)
    try scratch.succeed("mdb_load -n -f in -s cities a.lmdb && mdb_dump -n -a a.lmdb | \"$0\" load store -")
    #expect(try scratch.run("get", scratch.store, "at", "--keyspace", "cities").text == "Vienna")
  }

  @Test(.needs("db5.3_load", "db5.3_dump", package: "db5.3-util"), arguments: ["", "-p"], ["btree", "hash"])
  func berkeley(_ option: String, _ type: String) throws {
    let scratch = try Scratch()
    _ = try scratch.file("in", Self.bytes.replacing("btree", with: type).utf8)
    try scratch.succeed("db5.3_load -f in a.db && db5.3_dump \(option) a.db | \"$0\" load store -")
    try check(scratch)
  }

  private static let puts =
    "ldb --db=a.rocks --create_if_missing put at Vienna && ldb --db=a.rocks put --hex 0x00FF 0x780A && ldb --db=a.rocks put empty ''"

  @Test(.needs("ldb", package: "rocksdb-tools"), arguments: ["scan", "dump"])
  func rocksDB(_ command: String) throws {
    let scratch = try Scratch()
    try scratch.succeed("{ \(Self.puts); } > /dev/null && ldb --db=a.rocks \(command) --hex | \"$0\" load store -")
    try check(scratch)
    // Another time it is told that nothing is new.
    let again = try scratch.succeed(
      "ldb --db=a.rocks \(command) --hex | \"$0\" load store - --format ldb --if-absent --json"
    )
    #expect(again.contains(#""records":0"#) && again.contains(#""kept":3"#), "\(again)")
  }

  @Test(.needs("ldb", "python3", package: "rocksdb-tools"), .enabled(if: hasPlyvel, "needs plyvel: pip install plyvel"))
  func levelDB() throws {
    let scratch = try Scratch()
    let make =
      "import plyvel; d = plyvel.DB('a.level', create_if_missing=True); "
      + "d.put(b'at', b'Vienna'); d.put(bytes([0, 255]), b'x\\n'); d.put(b'empty', b'')"
    try scratch.succeed("python3 -c \"\(make)\" && ldb --db=a.level scan --hex | \"$0\" load store -")
    try check(scratch)
    // What reads it reads it still.
    try scratch.succeed("python3 -c \"import plyvel; assert plyvel.DB('a.level').get(b'at') == b'Vienna'\"")
  }

  private static let hasPlyvel: Bool = {
    guard let python = Installed.path(of: "python3") else { return false }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = ["-c", "import plyvel"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  @Test(arguments: [
    ("0x61 ==> 0x6\n", 1, "a value is not written in hexadecimal"),
    ("0x6 : 0x61\n", 1, "a key is not written in hexadecimal"),
    ("0x61 ==> 0x62\nKeys in range: 2\n", 2, "ldb has written 2 entries, and 1 were there"),
    ("0x61 ==> 0x62\nFailed: no such file\n", 2, "not an entry as ldb scan --hex and ldb dump --hex write it"),
    ("at ==> Vienna\n", 1, "not an entry as ldb scan --hex and ldb dump --hex write it"),
    ("0x", 1, "not an entry as ldb scan --hex and ldb dump --hex write it"),
    ("0x61 ==> 0", 1, "not an entry as ldb scan --hex and ldb dump --hex write it"),
  ]) func whatIsNoDumpOfRocksDBIsRefused(_ text: String, _ line: Int, _ why: String) throws {
    let scratch = try Scratch()
    let result = try scratch.run("load", scratch.store, "-", "--format", "ldb", "--quiet", input: Data(text.utf8))
    #expect(result.status == 1 && result.errors == "esker: line \(line): \(why)\n", "\(result.errors)")
    let skipped = try scratch.run(
      "load",
      scratch.store,
      "-",
      "--format",
      "ldb",
      "--skip-bad",
      input: Data((text + "\n0x61 : 0x\n").utf8)
    )
    #expect(skipped.status == (why.hasPrefix("ldb") ? 1 : 0), "\(skipped.errors)")
  }

  @Test func dumpsOfRocksDBGoWithoutWhatTheyHaveNoPlaceFor() throws {
    let scratch = try Scratch()
    for option in [["--key-field", "id"], ["--resume"]] {
      let result = try scratch.run(["load", scratch.store, "-", "--format", "ldb"] + option)
      #expect(result.status == 64, "\(result.errors)")
    }
    let told = try scratch.run("load", scratch.store, "-", "--resume", input: Data("0x61 : 0x62\n".utf8))
    #expect(told.status == 64 && told.errors.contains("a dump of RocksDB"))
  }
}
