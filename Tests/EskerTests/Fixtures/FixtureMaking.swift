import Esker
import EskerTestSupport
import Foundation
import Testing

private let newVersion = ProcessInfo.processInfo.environment["ESKER_NEW_STORES"]

/// Makes a folder of fixtures with this version, by hand: `ESKER_NEW_STORES=1.1 swift test --filter FixtureMaking` adds `Tests/Stores/1.1`.
/// What is there already is left alone.
@Suite(.enabled(if: newVersion != nil)) struct FixtureMaking {
  let temporary: TemporaryDirectory

  init() throws { temporary = try TemporaryDirectory() }

  struct Person: Codable, Sendable {
    var name: String
    var born: Int?
    var towns: [String]
  }

  /// Makes a fixture unless there is one of that name. `body` writes a store and leaves it closed, or copies its files elsewhere.
  private func make(
    _ name: String,
    options: Options = Options(),
    _ body: (FixtureWriter) throws -> (StoreContents, path: String)
  ) throws {
    let version = try #require(newVersion)
    let directory = StoreFixture.folder.appending(path: version).appending(path: name)
    guard !FileManager.default.fileExists(atPath: directory.path) else { return }
    let writer = try FixtureWriter(at: temporary.appending(name), options: options)
    let (contents, path) = try body(writer)
    try StoreFixture.make(contents, of: path, in: directory)
    try? writer.store.close()
  }

  @Test func clean() throws {
    try make("clean") { writer in
      try writer.put("", "")
      try writer.put("Vienna", "at")
      try writer.put("Bonn", "de")
      try writer.put("Berlin", "de")
      try writer.put([0, 255, 128], [255, 0, 1])
      try writer.put(String(repeating: "a value of more than a page. ", count: 200), "long")
      for number in 0..<20 { try writer.put("\(number)", "number \(number)", in: "numbers") }
      for number in 0..<20 where number.isMultiple(of: 3) { try writer.remove("number \(number)", in: "numbers") }
      try writer.put("gone", "gone", in: "emptied")
      try writer.removeAll(in: "emptied")
      try writer.put("there", "there", in: "emptied")
      try writer.put("gone", "gone", in: "removed")
      try writer.removeKeyspace("removed")
      try writer.store.write { batch in
        for number in 0..<3 {
          try batch.put("of a batch", forKey: "batch \(number)", in: try writer.keyspace("numbers"))
        }
      }
      for number in 0..<3 { writer.note(Array("of a batch".utf8), Array("batch \(number)".utf8), in: "numbers") }
      try writer.store.close()
      return (writer.contents("closed: overwritten, removed, emptied, a batch, the empty key"), writer.path)
    }
  }

  /// The files are copied while the store is open: that is what `kill -9` leaves.
  @Test func killed() throws {
    try make("killed") { writer in
      for number in 0..<30 { try writer.put("first \(number)", "key \(number)") }
      try writer.store.sync()
      for round in 100..<200 {
        for number in 0..<10 { try writer.put("again \(round)", "key \(number)") }
      }
      try writer.store.sync()
      for number in 0..<5 { try writer.put("not synced", "key \(number)") }
      try writer.remove("key 29")
      let path = temporary.appending("killed files")
      try FileManager.default.copyItem(atPath: writer.path, toPath: path)
      // A number in the header says that records have replaced others.
      let header = try Data(contentsOf: URL(filePath: "\(path)/0000000000000001.segment"))
      let hasReplaced = header[104..<112].contains { $0 != 0 }
      try #require(hasReplaced)
      return (
        writer.contents(
          "killed: a part synced, records that have replaced others, no clean close",
          found: "afterCrash"
        ), path
      )
    }
  }

  /// The cells of the first have their values in one group.
  @Test(arguments: ["packed", "groups"]) func packed(_ name: String) throws {
    try make(name, options: Options(segmentSize: 64 << 10, compression: .lz4)) { writer in
      for number in 0..<60 { try writer.put("{\"name\":\"small\",\"number\":\(number)}", "small/\(number)") }
      for number in 0..<40 {
        let text = (0..<25).map { "line \($0) of text \(number)" }.joined(separator: "\n")
        try writer.put(text, "text/\(number)", expires: number.isMultiple(of: 4) ? 86_400_000 : nil)
      }
      // What is merged first is sealed, as its segment is full.
      for number in 0..<80 { try writer.put(String(repeating: "-", count: 900), "filler/\(number)") }
      try writer.store.merge()
      for number in 0..<80 { try writer.remove("filler/\(number)") }
      try #require(writer.store.statistics.segments.contains { $0.isPacked })
      try writer.store.close()
      return (
        writer.contents("merged into segments compressed with LZ4: cells of small records, and large ones"), writer.path
      )
    }
  }

  /// Its index is built from the footer of a full segment, and from the records of the next.
  @Test func sealed() throws {
    var options = Options(segmentSize: 64 << 10)
    options.merge.isAutomatic = false
    try make("sealed", options: options) { writer in
      for number in 0..<30 { try writer.put("value \(number)", "key \(number)", in: "numbers") }
      for number in 0..<30 where number.isMultiple(of: 4) { try writer.remove("key \(number)", in: "numbers") }
      try writer.put("gone", "gone", in: "emptied")
      try writer.removeAll(in: "emptied")
      try writer.put("there", "there", in: "emptied", expires: 86_400_000)
      for number in 0..<64 { try writer.put(String(repeating: "-", count: 1000), "filler/\(number)") }
      for number in 0..<64 { try writer.remove("filler/\(number)") }
      try writer.store.sync()
      try writer.put("behind it", "last", in: "numbers")
      let isSealed = writer.store.statistics.segments.contains { $0.isSealed }
      try #require(isSealed)
      try writer.store.close()
      return (
        writer.contents("two segments, the first with a footer of puts, removals and a keyspace that was emptied"),
        writer.path
      )
    }
  }

  @Test func ordered() throws {
    try make("ordered") { writer in
      var number: UInt32 = 1
      for _ in 0..<60 {
        number = number &* 1_664_525 &+ 1_013_904_223
        try writer.put("\(number)", "user/\(number >> 29)/\(number >> 20)", in: "posts")
      }
      _ = try writer.keyspace("posts").first()
      for prefix in 0..<3 { try writer.remove("user/\(prefix)/0", in: "posts") }
      try writer.put("the last", "zz", in: "posts")
      try writer.store.close()
      return (writer.contents("a keyspace that was read in order"), writer.path)
    }
  }

  @Test func expiring() throws {
    try make("expiring") { writer in
      try writer.put("gone before it was there", "past", in: "sessions", expires: -1000)
      try writer.put("gone after a minute", "minute", in: "sessions", expires: 60_000)
      try writer.put("there for two hours", "hours", in: "sessions", expires: 7_200_000)
      try writer.put("there until the year 3000", "late", in: "sessions", expires: 30_747_000_000_000)
      try writer.put("there for ever", "never", in: "sessions")
      try writer.keyspace("daily").setDefaultExpiry(.seconds(86_400))
      try writer.keyspace("daily").put("a day", forKey: "default")
      writer.note(Array("a day".utf8), Array("default".utf8), in: "daily", expires: FixtureWriter.written + 86_400_000)
      try writer.store.close()
      return (writer.contents("values that have expired, expire and do not expire"), writer.path)
    }
  }

  @Test func cache() throws {
    try make("cache") { writer in
      _ = try writer.store.keyspace("pages", capacity: .entries(10))
      writer.note(capacity: 10, of: "pages")
      for number in 0..<15 { try writer.put("page \(number)", "\(100 + number)", in: "pages") }
      // Nothing was read, so what came first goes first.
      for number in 0..<5 { writer.forget("\(100 + number)", in: "pages") }
      try writer.put("stays", "draft", in: "drafts")
      try writer.store.close()
      return (writer.contents("a keyspace with a capacity, from which five entries were evicted"), writer.path)
    }
  }

  @Test func history() throws {
    try make("history") { writer in
      for number in 0..<3 {
        try writer.put("written at opening \(number)", "\(number)")
        try writer.reopen()
      }
      try writer.put("written at the last opening", "3")
      try writer.store.close()
      return (writer.contents("opened four times"), writer.path)
    }
  }

  @Test func copied() throws {
    try make("copied") { writer in
      for number in 0..<10 { try writer.put("value \(number)", "\(number)") }
      let path = temporary.appending("backup")
      try writer.store.backup(to: path)
      // A copy is told apart from an opening, and counts as one.
      writer.countCopy()
      return (writer.contents("a backup, made while the store was open"), path)
    }
  }

  @Test func typed() throws {
    try make("typed") { writer in
      let people = try writer.store.storage("people", key: Int.self, of: Person.self)
      try people.set(Person(name: "Anna", born: 1990, towns: ["Vienna", "Graz"]), forKey: -7)
      try people.set(Person(name: "Bert", born: nil, towns: []), forKey: 300)
      // CBOR: maps of field names and values; an integer key has eight bytes, in order.
      let anna = [
        "a3", "646e616d65", "64416e6e61", "64626f726e", "1907c6", "65746f776e73", "82", "665669656e6e61", "644772617a",
      ]
      writer.note(
        StoreContents.bytes("0x" + anna.joined()),
        [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf9],
        in: "people"
      )
      writer.note(
        StoreContents.bytes("0xa2646e616d65644265727465746f776e7380"),
        [0x80, 0, 0, 0, 0, 0, 1, 0x2c],
        in: "people"
      )
      writer.note(keys: "int64", values: "cbor", of: "people")
      let counts = try writer.store.storage("counts", of: Int.self)
      try counts.set(258, forKey: "a")
      writer.note([2, 1, 0, 0, 0, 0, 0, 0], Array("a".utf8), in: "counts")
      writer.note(keys: "utf8", values: "int64", of: "counts")
      try writer.store.close()
      return (writer.contents("typed storages, whose keyspaces record the forms of their keys and values"), writer.path)
    }
  }

  /// One bit of a value is another one.
  @Test func damaged() throws {
    try make("damaged") { writer in
      for number in 0..<8 { try writer.put("the value of number \(number)", "key \(number)") }
      try writer.store.close()
      let name = "0000000000000001.segment"
      let file = URL(filePath: "\(writer.path)/\(name)")
      var bytes = try Data(contentsOf: file)
      let place = try #require(bytes.firstRange(of: Data("of number 5".utf8)))
      bytes[place.lowerBound] ^= 1
      try bytes.write(to: file)
      writer.note(Array("the value of number 5".utf8), Array("key 5".utf8), in: "", isDamaged: true)
      let damage = StoreContents.Damage(file: name, records: 1, current: 1)
      return (writer.contents("closed, and then one bit of a value was flipped", damage: [damage]), writer.path)
    }
  }
}
