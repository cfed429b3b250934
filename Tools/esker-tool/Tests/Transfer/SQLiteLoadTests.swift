import Esker
import Foundation
import Testing

@testable import esker_tool

/// Databases that the real `sqlite3` has made.
@Suite(.needs("sqlite3", package: "sqlite3")) struct SQLiteLoadTests {
  private func database(_ statements: String) throws -> Scratch {
    let scratch = try Scratch()
    _ = try scratch.file("make.sql", statements.utf8)
    try scratch.succeed("sqlite3 -batch -bail a.db < make.sql")
    return scratch
  }

  private static let cities = """
    create table cities(id integer primary key, name text, share real, flag blob, until text);
    insert into cities values(1, 'Wien "I"|', 0.1, x'00ff', '2100-01-01T00:00:00Z'), (2, null, 2.0, x'', null);
    create table "other ""one"(k, v);

    """

  @Test func rowsBecomeDocuments() throws {
    let scratch = try database(Self.cities)
    let fields = ["--value-field", "name", "--value-field", "share", "--value-field", "id"]
    let load = try scratch.run(
      ["load", scratch.store, scratch.path("a.db"), "--table", "Cities", "--key-field", "ID"] + fields
    )
    #expect(load.status == 0 && load.errors.hasPrefix("loaded 2 records"), "\(load.errors)")
    #expect(try scratch.run("get", scratch.store, "1").text == #"{"name":"Wien \"I\"|","share":0.1,"id":1}"#)
    #expect(try scratch.run("get", scratch.store, "2").text == #"{"name":null,"share":2.0,"id":2}"#)
  }

  @Test func aColumnIsAValueAsItIs() throws {
    let scratch = try database(Self.cities)
    let options = ["--key-field", "id", "--value-field", "flag", "--expires-field", "until", "--table", "cities"]
    #expect(try scratch.run(["import", scratch.store, scratch.path("a.db")] + options).status == 0)
    #expect(try scratch.run("get", scratch.store, "1").output == Data([0, 255]))
    #expect(try scratch.run("get", scratch.store, "2").output.isEmpty)
    #expect(
      try scratch.run("list", scratch.store, "--expires", "--sort", "key").text
        == "1\t2100-01-01T00:00:00.000Z\n2\tnever\n"
    )
  }

  @Test func aQueryIsLoaded() throws {
    let scratch = try database(Self.cities)
    let query =
      "select 'city:' || id as key, hex(flag) as flag, 4102444800 as until from cities order by id -- all\n;; "
    let options = ["--query", query, "--key-field", "key", "--value-field", "flag", "--expires-field", "until"]
    #expect(try scratch.run(["load", scratch.store, scratch.path("a.db"), "--resume"] + options).status == 0)
    #expect(try scratch.run("get", scratch.store, "city:1").text == "00FF")
    #expect(
      try scratch.run("list", scratch.store, "--expires", "-n", "1").text.hasSuffix("\t2100-01-01T00:00:00.000Z\n")
    )
  }

  @Test func textIsTextWhateverTheDatabaseKeepsItAs() throws {
    for encoding in ["UTF-8", "UTF-16le", "UTF-16be"] {
      let scratch = try database(
        "pragma encoding='\(encoding)'; create table \"t é\"(\"k é\", v); insert into \"t é\" values('Wién 🏔', 'ä');"
      )
      let load = try scratch.run(
        "load",
        scratch.store,
        scratch.path("a.db"),
        "--key-field",
        "k é",
        "--value-field",
        "v"
      )
      #expect(load.status == 0, "\(load.errors)")
      #expect(try scratch.run("get", scratch.store, "Wién 🏔").text == "ä")
    }
  }

  @Test func namesThatAreNotThereAreAnsweredWithThoseThatAre() throws {
    let scratch = try database(Self.cities)
    let file = scratch.path("a.db")
    for (options, why) in [
      (["--key-field", "id"], "\(file) has 2 tables: name one with --table, or give --query: cities, other \"one"),
      (
        ["--table", "towns"],
        "no table \"towns\" in \(file): name one with --table, or give --query: cities, other \"one"
      ),
      (["--table", "other \"one"], "which column is the key is not said: name it with --key-field: there are k, v"),
      (["--table", "cities", "--key-field", "x"], "no column \"x\": there are id, name, share, flag, until"),
      (
        ["--table", "cities", "--key-field", "id", "--value-field", "x"],
        "no column \"x\": there are id, name, share, flag, until"
      ),
    ] {
      let result = try scratch.run(["load", scratch.store, file] + options)
      #expect(result.status == 64 && result.errors == "esker: \(why)\n", "\(result.errors)")
    }
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func rowsThatAreNoRecordsAreNamed() throws {
    let scratch = try database(Self.cities)
    func load(_ options: String...) throws -> ToolResult {
      try scratch.run(["load", scratch.store, scratch.path("a.db"), "--table", "cities", "--quiet"] + options)
    }
    #expect(
      try load("--key-field", "name", "--value-field", "id").errors
        == "esker: row 2: column \"name\", the key, is null\n"
    )
    #expect(
      try load("--key-field", "id").errors.hasPrefix(
        "esker: row 1: column \"flag\" holds bytes, which JSON has no type for"
      )
    )
    #expect(
      try load("--key-field", "id", "--value-field", "name").errors
        == "esker: row 2: column \"name\", the value, is null\n"
    )
    let skipped = try load("--key-field", "name", "--value-field", "id", "--skip-bad")
    #expect(skipped.status == 0)
    #expect(try scratch.run("list", scratch.store, "--sort", "key").text == "1\nWien \"I\"|\n")
    let expiry = try load("--key-field", "id", "--value-field", "id", "--expires-field", "flag")
    #expect(expiry.errors.contains("column \"flag\" is neither an instant"))
  }

  @Test func anErrorOfTheProgramIsTheErrorOfTheLoad() throws {
    let scratch = try database(Self.cities)
    let wrong = try scratch.run("load", scratch.store, scratch.path("a.db"), "--query", "select * from nowhere")
    #expect(
      wrong.status == 74 && wrong.errors.contains("sqlite3: ") && wrong.errors.contains("nowhere"),
      "\(wrong.errors)"
    )
    let several = try scratch.run("load", scratch.store, scratch.path("a.db"), "--query", "select 1; drop table cities")
    #expect(several.status == 74)
    #expect(try scratch.succeed("sqlite3 a.db 'select count(*) from cities'") == "2\n")
    let file = try scratch.file("b.db", Array("SQLite format 3\0".utf8) + [0x10, 0, 1, 1, 0, 0x40])
    let broken = try scratch.run("load", scratch.store, file, "--key-field", "id")
    #expect(broken.status == 74 && broken.errors.hasPrefix("esker: sqlite3: "), "\(broken.errors)")
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func withoutTheProgramItIsSaidWhatToInstall() throws {
    let scratch = try database(Self.cities)
    let result = try scratch.shell(
      "PATH=/nowhere \"$0\" load \"$1\" '\(scratch.path("a.db"))' --table cities --key-field id"
    )
    #expect(
      result.status == 74
        && result.errors
          == "esker: the program sqlite3, which reads and writes such files, is not on the search path: install it, on Debian and Ubuntu with apt-get install sqlite3\n",
      "\(result.errors)"
    )
  }

  @Test func aDryRunSaysWhatALoadWouldDo() throws {
    let scratch = try database(Self.cities)
    let options = [
      scratch.store, scratch.path("a.db"), "--table", "cities", "--key-field", "id", "--value-field", "id",
    ]
    let plan = try scratch.run(["load"] + options + ["--dry-run"])
    #expect(plan.status == 0 && plan.errors.hasPrefix("would load 2 records (2 B)"), "\(plan.errors)")
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
    _ = try scratch.run("put", scratch.store, "1", "mine")
    #expect(try scratch.run(["load"] + options + ["--dry-run"]).errors.hasSuffix("; 1 replaced\n"))
    let absent = try scratch.run(["load"] + options + ["--dry-run", "--if-absent", "--json"])
    #expect(absent.text.hasPrefix(#"{"records":1,"#) && absent.text.contains(#""kept":1"#), "\(absent.text)")
    #expect(try scratch.run("count", scratch.store).text == "1\n")
    #expect(try scratch.run(["load"] + options + ["--if-absent"]).errors.hasSuffix("; 1 there already\n"))
    #expect(try scratch.run("get", scratch.store, "1").text == "mine")
    #expect(try scratch.run("get", scratch.store, "2").text == "2")
    // Nothing is new any more, and that is no failure.
    #expect(try scratch.run(["load"] + options + ["--if-absent", "--skip-bad"]).status == 0)
    #expect(try scratch.run(["load"] + options + ["--if-absent", "--resume"]).status == 64)
    #expect(try scratch.run(["load"] + options + ["--dry-run", "--synced"]).status == 64)
  }

  @Test func optionsOfDatabasesAreForThem() throws {
    let scratch = try Scratch()
    let file = try scratch.file("a.ndjson", Array("{\"id\":1}\n".utf8))
    let result = try scratch.run("load", scratch.store, file, "--key-field", "id", "--value-field", "id")
    #expect(result.status == 64 && result.errors.contains("which \(file) is not"), "\(result.errors)")
    #expect(try scratch.run("load", scratch.store, "-", "--table", "t").status == 64)
    #expect(try scratch.run("load", scratch.store, file, "--table", "t", "--query", "select 1").status == 64)
  }
}

/// What a line of a row may be, whoever has written it.
@Suite struct SQLiteCellTests {
  private func row(_ text: some StringProtocol, _ encoding: SQLiteEncoding = .utf8) -> [SQLiteCell]? {
    SQLiteCell.row(ContiguousArray(text.utf8).span, encoding)
  }

  @Test func cellsAreReadByTheirLetters() {
    #expect(
      row("n|i-7|r-2.5e-300|t5769656e|b00FF|t|b")
        == [.null, .integer(-7), .real(-2.5e-300), .text(Array("Wien".utf8)), .blob([0, 255]), .text([]), .blob([])]
    )
    #expect(row("t5769", .big) == [.text(Array("坩".utf8))])
    #expect(row("t6957", .little) == [.text(Array("坩".utf8))])
    for wrong in ["", "|", "x", "i", "i1x", "i9223372036854775808", "t5", "tzz", "b1", "nn", "i1|", "r"] {
      #expect(row(wrong) == nil, "\(wrong)")
    }
    // Half of a character, and half of a pair.
    #expect(row("t57", .big) == nil && row("tD83C", .big) == nil)
  }

  @Test func nothingOfALineIsBelieved() {
    let line = Array("n|i-7|r2.5|t5769656e|b00FF".utf8)
    for end in 0...line.count { _ = SQLiteCell.row(ContiguousArray(line).span.extracting(0..<end), .utf8) }
    for place in line.indices {
      for bit in 0..<8 {
        var changed = line
        changed[place] ^= 1 << UInt8(bit)
        for encoding in [SQLiteEncoding.utf8, .little, .big] {
          _ = SQLiteCell.row(ContiguousArray(changed).span, encoding)
        }
      }
    }
  }
}
