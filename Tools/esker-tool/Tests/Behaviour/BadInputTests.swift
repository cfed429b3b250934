import Esker
import EskerFormat
import Foundation
import Testing

@testable import esker_tool

/// Whatever is wrong is said in one line on standard error, with an exit code that says what to do about it.
@Suite struct BadInputTests {
  static let readers = [
    ["get", "a"], ["list"], ["count"], ["keyspaces"], ["dump"], ["dump", "--format", "binary"], ["stats"], ["inspect"],
    ["map"], ["verify"], ["merge", "--dry-run"], ["backup", "/nowhere/new"], ["restore", "/nowhere/new"],
    ["watch", "--count", "1"], ["exists", "a"], ["ttl", "a"], ["copy", "/nowhere/new"],
    ["count", "--where", ". = 1"],
  ]

  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "a", "value of a").status == 0)
    return scratch
  }

  private func files(_ scratch: Scratch, _ suffix: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.store).filter { $0.hasSuffix(suffix) }
      .map { "\(scratch.store)/\($0)" }
  }

  private func change(_ file: String, _ body: (inout [UInt8]) -> Void) throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    body(&bytes)
    try Data(bytes).write(to: URL(fileURLWithPath: file))
  }

  private func expectOneLine(
    _ result: ToolResult,
    status: Int32,
    _ text: String,
    location: SourceLocation = #_sourceLocation
  ) {
    #expect(result.status == status, sourceLocation: location)
    #expect(result.errors.hasPrefix("esker: "), sourceLocation: location)
    #expect(result.errors.contains(text), "\(result.errors)", sourceLocation: location)
    #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)", sourceLocation: location)
  }

  @Test(arguments: readers)
  func aManifestDamagedInBothCopiesIsDamage(command: [String]) throws {
    let scratch = try filled()
    for name in ["manifest.a", "manifest.b"] { try change("\(scratch.store)/\(name)") { $0[40] ^= 0xFF } }
    let result = try scratch.run([command[0], scratch.store] + command.dropFirst())
    expectOneLine(result, status: 1, "manifest")
    #expect(result.errors.contains("esker repair"), "\(result.errors)")
  }

  @Test(
    arguments:
      readers + [["put", "k", "v"], ["load", "/dev/null", "--key-field", "id"], ["repair", "/nowhere/new"]]
  )
  func aStoreOfANewerVersionIsRefusedUntouched(command: [String]) throws {
    let scratch = try filled()
    for name in ["manifest.a", "manifest.b"] {
      try change("\(scratch.store)/\(name)") { bytes in
        bytes[8] = 9
        // The header's checksum is right: it is a newer store's, and not damage.
        let checksum = CRC32C.checksum(of: ContiguousArray(bytes).span.bytes.extracting(0..<36))
        for index in 0..<4 { bytes[36 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
      }
    }
    let before = try files(scratch, "").map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    let result = try scratch.run([command[0], scratch.store] + command.dropFirst())
    expectOneLine(result, status: 66, "format version 9")
    #expect(try files(scratch, "").map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == before)
  }

  private static let whoReadsValues = [
    ["get", "a"], ["list", "--values"], ["dump"], ["verify"], ["inspect", "--segment", "1"], ["inspect", "--key", "a"],
    ["inspect", "--record", "1:128"], ["repair", "NEW"],
    ["backup", "NEW"], ["exists", "a"], ["ttl", "a"], ["copy", "NEW", "-q"], ["count", "--where", ". = 1"],
  ]
  private static let whoReadsNone = [
    ["count"], ["list"], ["list", "--sort", "key"], ["big"], ["keyspaces", "--sizes"], ["stats"], ["inspect"], ["map"],
    ["merge", "--dry-run"],
    ["watch", "--count", "1"],
  ]

  /// Damages the value of "a".
  private func damageValue(_ scratch: Scratch) throws -> String {
    let segments = try files(scratch, ".segment")
    let value = Data("value of a".utf8)
    let segment = try #require(
      try segments.first { try Data(contentsOf: URL(fileURLWithPath: $0)).range(of: value) != nil }
    )
    try change(segment) { bytes in
      guard let place = Data(bytes).range(of: value) else { return }
      bytes[place.lowerBound] ^= 1
    }
    return segment
  }

  private func run(_ command: [String], _ scratch: Scratch) throws -> ToolResult {
    try scratch.run([command[0], scratch.store] + command.dropFirst().map { $0 == "NEW" ? scratch.path("new") : $0 })
  }

  /// A store with a checkpoint is opened without a look at its values.
  @Test(arguments: whoReadsValues + whoReadsNone)
  func aDamagedValueIsMetOnlyByWhoReadsIt(command: [String]) throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.put("value of a", forKey: "a")
    for number in 0..<3_000 { try store.put([UInt8](repeating: 120, count: 1000), forKey: "other \(number)") }
    try store.close()
    try #require(try !files(scratch, ".checkpoint").isEmpty)
    _ = try damageValue(scratch)
    let result = try run(command, scratch)
    let isRead = Self.whoReadsValues.contains(command)
    #expect(result.status == (isRead ? 1 : 0))
    let said = result.text + result.errors
    if isRead { #expect(said.contains("damage") || said.contains("match")) } else { #expect(result.errors.isEmpty) }
  }

  /// A small store has no checkpoint: opening it reads its records, and finds what is wrong with them.
  @Test(arguments: whoReadsValues + whoReadsNone)
  func aDamagedValueOfASmallStoreIsMetByAll(command: [String]) throws {
    let scratch = try filled()
    try #require(try files(scratch, ".checkpoint").isEmpty)
    let segment = try damageValue(scratch)
    let result = try run(command, scratch)
    // Watching goes on, whatever is met.
    #expect(result.status == (command[0] == "watch" ? 0 : 1))
    let said = result.text + result.errors
    #expect(said.contains("damage") || said.contains("match"), "\(said)")
    #expect(result.errors.components(separatedBy: segment).count <= 2, "\(result.errors)")
  }

  @Test func aDamagedSegmentIsNamedByWhoeverMeetsIt() throws {
    let scratch = try filled()
    let segment = try damageValue(scratch)
    expectOneLine(try scratch.run("get", scratch.store, "a"), status: 1, segment)
    expectOneLine(try scratch.run("dump", scratch.store), status: 1, segment)
    expectOneLine(try scratch.run("dump", scratch.store, "--format", "binary"), status: 1, segment)
    expectOneLine(try scratch.run("dump", scratch.store, scratch.path("new"), "--format", "binary"), status: 1, segment)
    #expect(!FileManager.default.fileExists(atPath: scratch.path("new")))
  }

  /// Writes the figures that a process with the store open is said to have published: one number in all places.
  private func publish(_ number: UInt64, uptime: UInt64, in scratch: Scratch) throws {
    var image = StatisticsImage(storeID: StoreID(low: number, high: number))
    image.processID = 1
    image.openedAt = Int64(bitPattern: number)
    image.publishedAt = Int64(bitPattern: number)
    image.interval = number
    image.uptime = uptime
    image.figures = image.figures.map { _ in number }
    for index in image.histograms.indices {
      image.histograms[index].counts = image.histograms[index].counts.map { _ in number }
      image.histograms[index].total = number
      image.histograms[index].maximum = number
    }
    _ = try scratch.file("store/statistics", image.encoded())
  }

  @Test(arguments: [1 << 63, .max >> 1, .max] as [UInt64])
  func publishedFiguresBeyondAllBoundsAreShown(number: UInt64) throws {
    let scratch = try filled()
    // Without its lock, nothing is published.
    let holder = try LogStore(at: scratch.store)
    defer { try? holder.close() }
    try publish(number, uptime: number, in: scratch)
    for options in [[], ["--json"]] {
      let result = try scratch.run(["watch", scratch.store, "--count", "1"] + options)
      #expect(result.status == 0 && result.errors.isEmpty && result.lines.count == 1)
    }
    // From nothing to everything, and back, within a nanosecond.
    let watcher = FollowedStore(path: scratch.store)
    let published: [(UInt64, UInt64)] = [(0, 1), (number, 2), (0, 3)]
    let samples = try published.map { figure, uptime in
      try publish(figure, uptime: uptime, in: scratch)
      return try watcher.sample()
    }
    for (before, after) in zip(samples, samples.dropFirst()) {
      let rates = try #require(StoreRates(from: before, to: after))
      let report = WatchReport(path: "store", sample: after, rates: rates, time: WallTime(millisecondsSince1970: 0))
      #expect(report.screen.count > 10)
      #expect(report.line.contains(" writes/s, "))
      #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(report.json)) }
    }
  }

  @Test(.enabled(if: Privileges.canBeGivenUp))
  func aStoreThatMayNotBeReadIsNamed() throws {
    let scratch = try filled()
    // Nobody who obeys permissions may read the one or write to the other.
    let close = #"chmod 755 "${1%/*}"; mkdir "$1.closed"; chmod 555 "$1.closed"; chmod 000 "$1""#
    #expect(try scratch.shell(close).status == 0)
    defer { _ = try? scratch.shell(#"chmod 755 "$1""#) }
    for command in [#"get "$1" a"#, #"put "$1" a b"#, #"stats "$1""#, #"dump "$1""#] {
      let result = try scratch.shell(Privileges.prefix + #""$0" \#(command)"#)
      expectOneLine(result, status: 74, "Permission denied")
    }
    let create = try scratch.shell(Privileges.prefix + #""$0" put "$1.closed/new" a b"#)
    expectOneLine(create, status: 74, "Permission denied")
  }

  @Test(.enabled(if: Privileges.canMount))
  func aFullVolumeStopsALoadThatCanGoOnLater() throws {
    let scratch = try Scratch()
    let lines = (0..<20_000).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "x", count: 300))\"}\n" }.joined()
    _ = try scratch.file("in", lines.utf8)
    let result = try scratch.shell(
      #"""
      mkdir "$1.volume"
      unshare -m sh -c '
        mount -t tmpfs -o size=2m none "$1.volume" &&
        "$0" load "$1.volume/store" "${1%/*}/in" --key-field id --resume --quiet
        echo "status $?"
        mount -o remount,size=64m none "$1.volume" &&
        "$0" load "$1.volume/store" "${1%/*}/in" --key-field id --resume --quiet &&
        "$0" count "$1.volume/store"
      ' "$0" "$1"
      """#
    )
    expectOneLine(result, status: 0, "not enough space")
    #expect(result.lines == ["status 74", "20000"])
  }

  @Test func aClosedStandardInputIsAnError() throws {
    let scratch = try filled()
    for options in ["--key-field id", "--format binary", "--format csv"] {
      let result = try scratch.shell(#""$0" load "$1" - --quiet <&- "# + options)
      expectOneLine(result, status: 74, "cannot read standard input")
    }
  }

  @Test func garbageIsNotLoaded() throws {
    let scratch = try filled()
    var random = SplitMix(state: 17)
    let garbage = Data((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) })
    for options in [["--key-field", "id"], ["--format", "ndjson"], ["--format", "csv"], ["--format", "binary"]] {
      let result = try scratch.run(["load", scratch.store, "-", "-q"] + options, input: garbage)
      expectOneLine(result, status: 1, "esker: ")
      #expect(!result.errors.utf8.contains { $0 < 0x20 && $0 != 0x0A })
    }
    #expect(try scratch.run("count", scratch.store).text == "1\n")
  }

  @Test func aLineThatIsTooLongIsRefusedInLittleMemory() throws {
    let scratch = try Scratch()
    // A file with a hole: the line is zeros, and takes neither time to write nor space. It would not fit in the memory that is let.
    let file = #"printf '{"id":1}\n' > "$1.in"; truncate -s 160M "$1.in"; printf '\n{"id":2}\n' >> "$1.in"; "#
    let line = file + "ulimit -d 150000; "
    let options = " --key-field id --max-line 1MB"
    let skipping = try scratch.shell(line + #""$0" load "$1" "$1.in" --skip-bad"# + options)
    #expect(skipping.status == 0)
    #expect(skipping.errors.hasPrefix("esker: line 2: longer than 1,000,000 bytes: see --max-line\nloaded 2 records"))
    let result = try scratch.shell(line + #"cat "$1.in" | "$0" load "$1" - --quiet"# + options)
    expectOneLine(result, status: 1, "line 2: longer than 1,000,000 bytes")
    #expect(try scratch.run("list", scratch.store).lines.sorted() == ["1", "2"])
  }

  @Test func aLoadTakesTheSameMemoryWhateverTheInput() throws {
    let scratch = try Scratch()
    // Twenty keys over and over: what the index of many keys takes is the store's, not the load's.
    let feed = #"""
      ulimit -d 150000
      i=0; while [ $i -lt 20 ]; do printf '{"id":%d,"text":"%01000d"}\n' $i 0; i=$((i+1)); done > "$1.in"
      repeat() { n=0; while [ $n -lt 8000 ]; do cat "$1.in" "$1.in"; n=$((n+2)); done; }
      """#
    let result = try scratch.shell(
      feed + "\nrepeat \"$1\" | \"$0\" load \"$1\" - --key-field id --quiet --json"
    )
    #expect(result.status == 0, "\(result.errors)")
    let report = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
    #expect(report["records"] as? Int == 160_000)
  }
}

/// What the tests may do to the system.
enum Privileges {
  private static func succeeds(_ line: String) -> Bool {
    guard let scratch = try? Scratch(), let result = try? scratch.shell(line) else { return false }
    return result.status == 0
  }

  /// Runs the rest of a line of shell without privileges.
  static var prefix: String { geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "" }

  /// Whether a program can be run that may not do everything.
  static let canBeGivenUp = geteuid() != 0 || succeeds(prefix + #""$0" --version"#)

  /// Whether a volume can be had for a test.
  static let canMount = succeeds(#"unshare -m sh -c 'mount -t tmpfs -o size=1m none /mnt'"#)
}
