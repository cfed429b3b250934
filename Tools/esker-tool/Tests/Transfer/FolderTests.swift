import Esker
import Foundation
import Testing

@testable import esker_tool

/// Folders with a file for each key, and back.
@Suite struct FolderTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    for (key, value) in [
      ("at", "Vienna"), ("a/b", "slash"), ("", "empty"), (".hidden", ""), ("..", "up"), ("%41", "percent"),
    ] {
      try store.put(value, forKey: key)
    }
    try store.put([0xFF, 0, 0x0A] as [UInt8], forKey: [0xFF, 0, 0x0A] as [UInt8])
    try store.storage("scores", key: Int.self, of: [String].self).set(["a"], forKey: -7)
    try store.close()
    return scratch
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  @Test func aFolderIsWrittenAndLoaded() throws {
    let scratch = try filled()
    let folder = scratch.path("folder")
    let dump = try scratch.run("export", scratch.store, folder, "--format", "folder")
    #expect(dump.status == 0 && dump.errors.contains("wrote 7 entries ("), "\(dump.errors)")
    #expect(dump.errors.contains("others have 1 key"), "\(dump.errors)")
    #expect(try names(folder) == ["%", "%2541", "%2e.", "%2ehidden", "%ff%00%0a", "a%2fb", "at"])
    let load = try scratch.run("import", scratch.path("copy"), folder)
    #expect(load.status == 0 && load.errors.hasPrefix("loaded 7 records"), "\(load.errors)")
    #expect(try scratch.run("drop", scratch.store, "scores").status == 0)
    #expect(try scratch.run("diff", scratch.store, scratch.path("copy")).status == 0)
    #expect(
      try scratch.run("import", scratch.path("copy"), folder, "--if-absent").errors.hasSuffix("; 7 there already\n")
    )
  }

  @Test func whatHasAFormIsWrittenAsText() throws {
    let scratch = try filled()
    let folder = scratch.path("folder")
    #expect(try scratch.run("dump", scratch.store, folder, "--format", "folder", "--keyspace", "scores").status == 0)
    #expect(try names(folder) == ["-7"])
    #expect(try String(contentsOfFile: "\(folder)/-7", encoding: .utf8) == #"["a"]"#)
  }

  @Test func aFolderThatFailsIsRemoved() throws {
    let scratch = try filled()
    let folder = scratch.path("folder")
    #expect(try scratch.run("put", scratch.store, String(repeating: "/", count: 86), "v").status == 0)
    let long = try scratch.run("dump", scratch.store, folder, "--format", "folder")
    #expect(long.status == 1 && long.errors.contains("is longer than the name of a file can be"), "\(long.errors)")
    #expect(!FileManager.default.fileExists(atPath: folder))
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    #expect(try scratch.run("dump", scratch.store, folder, "--format", "folder", "--match", "a*").status == 0)
    let there = try scratch.run("dump", scratch.store, folder, "--format", "folder")
    #expect(there.status == 74 && there.errors.contains("already exists"))
    #expect(try names(folder) == ["a%2fb", "at"])
    let plan = try scratch.run(
      "dump",
      scratch.store,
      scratch.path("new"),
      "--format",
      "folder",
      "--match",
      "a*",
      "--dry-run"
    )
    #expect(plan.status == 0 && plan.errors.contains("would write 2 entries (11 B)"), "\(plan.errors)")
    #expect(!FileManager.default.fileExists(atPath: scratch.path("new")))
    for wrong in [["-"], [scratch.path("new"), "--encoding", "hex"]] {
      #expect(try scratch.run(["dump", scratch.store] + wrong + ["--format", "folder"]).status == 64)
    }
  }

  /// A folder as hyperoslo/Cache makes it: named by the MD5 of keys, dated by their expiry, each value in an object.
  @Test(.needs("md5sum", package: "coreutils")) func cachesOfCacheAreLoaded() throws {
    let scratch = try Scratch()
    try scratch.succeed(
      """
      mkdir c && for key in anna 'photo of anna.png' bert unknown; do
      name=$(printf %s "$key" | md5sum | cut -d' ' -f1)
      case $key in *.*) name=$name.${key##*.} ;; esac
      printf '{"object":{"name":"%s"}}' "$key" > "c/$name"
      touch -d 2100-01-01T00:00:00Z "c/$name"
      [ "$key" != bert ] || touch -d 2020-01-01T00:00:00Z "c/$name"
      done; printf 'anna\\nphoto of anna.png\\nbert\\nnobody' > keys
      """
    )
    let options = [
      scratch.path("c"), "--names", "md5", "--key-list", scratch.path("keys"), "--expires-modified", "--unwrap",
      "object",
    ]
    let load = try scratch.run(["load", scratch.store] + options)
    #expect(
      load.status == 0 && load.errors.hasSuffix("; 1 expired; not loaded: 1 file of an unknown key\n"),
      "\(load.errors)"
    )
    #expect(try scratch.run("get", scratch.store, "photo of anna.png").text == #"{"name":"photo of anna.png"}"#)
    #expect(
      try scratch.run("list", scratch.store, "--expires", "--match", "anna").text == "anna\t2100-01-01T00:00:00.000Z\n"
    )
    #expect(try scratch.run("load", scratch.store, scratch.path("c"), "--names", "md5").status == 64)
  }

  /// A folder as Shallows makes it.
  @Test(.needs("base64", package: "coreutils")) func foldersOfShallowsAreLoaded() throws {
    let scratch = try Scratch()
    try scratch.succeed(
      """
      mkdir f && for key in wien 'a?>b??c~~~'; do name=$(printf %s "$key" | base64); mkdir -p "f/$(dirname "$name")"; printf %s "$key" > "f/$name"; done
      printf url > "f/$(printf '??>~~~' | base64 | tr '+/' '-_')"; echo no > 'f/not base 64'
      """
    )
    let load = try scratch.run("load", scratch.store, scratch.path("f"), "--names", "base64", "--skip-bad")
    #expect(load.status == 0 && load.errors.hasSuffix("; 1 bad line skipped\n"), "\(load.errors)")
    #expect(load.errors.contains("not base 64: the name is not written as --names base64 says"), "\(load.errors)")
    for key in ["wien", "a?>b??c~~~"] { #expect(try scratch.run("get", scratch.store, key).text == key) }
    #expect(try scratch.run("get", scratch.store, "??>~~~").text == "url")
  }

  @Test func filesAreTakenByTheirPaths() throws {
    let scratch = try Scratch()
    try scratch.succeed(
      "mkdir -p d/e/.git && printf 1 > d/a.txt && printf 2 > d/e/100%25 && printf 3 > d/e/.git/x && printf 4 > d/.x && ln -s a.txt d/link"
    )
    let load = try scratch.run("load", scratch.store, scratch.path("d"), "--names", "plain", "--dry-run")
    #expect(load.status == 0 && load.errors.hasPrefix("would load 2 records (2 B)"), "\(load.errors)")
    #expect(try scratch.run("load", scratch.store, scratch.path("d"), "--names", "plain").status == 0)
    #expect(try scratch.run("list", scratch.store, "--values", "--sort", "key").text == "a.txt\t1\ne/100%25\t2\n")
    let long = try scratch.run("load", scratch.store, scratch.path("d"), "--max-line", "1B", "--unwrap", "x", "--quiet")
    #expect(
      long.status == 1 && long.errors == "esker: file 1: a.txt: no such field as --unwrap says\n",
      "\(long.errors)"
    )
  }

  @Test func aFolderOfAnotherStoreIsNamed() throws {
    let scratch = try filled()
    let own = try scratch.run("load", scratch.path("copy"), scratch.store)
    #expect(own.status == 64 && own.errors.contains("is a store of Esker: esker copy"), "\(own.errors)")
    try scratch.succeed("mkdir l r && touch l/data.mdb r/CURRENT r/MANIFEST-000005")
    #expect(try scratch.run("load", scratch.path("copy"), scratch.path("l")).errors.contains("mdb_dump -a "))
    #expect(try scratch.run("load", scratch.path("copy"), scratch.path("r")).errors.contains("ldb --db="))
    let file = try scratch.file("a.ndjson", [])
    #expect(try scratch.run("load", scratch.path("copy"), file, "--names", "plain").status == 64)
    #expect(try scratch.run("load", scratch.path("copy"), scratch.path("l"), "--resume").status == 64)
    #expect(!FileManager.default.fileExists(atPath: scratch.path("copy")))
  }

  @Test func digestsAreThoseOfTheStandard() {
    for (text, digest) in [
      ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
      (
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "57edf4a22be3c955ac49da2e2107b67a"
      ),
    ] {
      #expect(
        String(
          decoding: ByteEncoding.hex.encode(ContiguousArray(MD5.digest(of: Array(text.utf8))).span) ?? [],
          as: UTF8.self
        ) == digest
      )
    }
  }

  @Test func anyNameIsAKeyOrNone() {
    for bytes in [[], [0x25], [0x2E], [0, 255, 0x2F], Array("Wién %41.".utf8)] as [[UInt8]] {
      #expect(FileNames.percent.key(of: FileNames.percent(of: bytes), [:]) == bytes)
    }
    let name = "a%2fb%FF"
    for end in 0...name.count { _ = FileNames.percent.key(of: String(name.prefix(end)), [:]) }
    #expect(FileNames.percent.key(of: "a%", [:]) == nil && FileNames.percent.key(of: "%4", [:]) == nil)
  }
}
