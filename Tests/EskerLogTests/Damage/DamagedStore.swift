import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A store whose contents are known, to be damaged in every way.
struct DamagedStore {
  typealias Key = [UInt8]

  let image: DiskImage
  /// The last segment, which was not sealed and so has no footer.
  let tail: String
  /// Where the headers of the tail's records stand.
  let tailHeaders: [Range<Int>]
  /// What each key should hold, by keyspace; nil: it was there once and was removed.
  var expected: [String: [Key: [UInt8]?]] = [:]

  /// What came of one way of damaging it.
  struct Outcome {
    var openError: StoreError?
    /// Keys that answered with an error.
    var damagedKeys = 0
    /// Keys that answered as if they had never been written, which is never right.
    var lost: [String] = []
    /// Keys that answered with a value that is not theirs, which is never right.
    var wrong: [String] = []
    var events = 0
  }

  /// A store closed cleanly, with overwritten, removed and batched keys in three keyspaces.
  ///
  /// - Parameter filler: bytes of each value of a few keys, so that the store has several segments.
  init(filler: Int = 0) throws {
    let machine = Machine()
    let store = try machine.open()
    var expected: [String: [Key: [UInt8]?]] = [:]
    let spaces = ["", "one", "emptied"]
    func put(_ text: String, _ key: String, _ space: String) throws {
      let value = bytes(text) + [UInt8](repeating: 0x5A, count: filler)
      try store.keyspace(space).put(value, forKey: key)
      expected[space, default: [:]][bytes(key)] = .some(value)
    }
    for space in spaces {
      for number in 0..<8 { try put("old \(number)", "key \(number)", space) }
    }
    for number in 0..<4 { try put("new value \(number)", "key \(number)", "") }
    for number in 4..<6 {
      try store.remove("key \(number)")
      expected[""]?[bytes("key \(number)")] = .some(nil)
    }
    let one = try store.keyspace("one")
    try store.write { (batch) throws(StoreError) in
      try batch.put("batched", forKey: "key 1", in: one)
      try batch.remove("key 2", in: one)
      try batch.put("batched", forKey: "key 7")
    }
    expected["one"]?[bytes("key 1")] = .some(bytes("batched"))
    expected["one"]?[bytes("key 2")] = .some(nil)
    expected[""]?[bytes("key 7")] = .some(bytes("batched"))
    let emptied = try store.keyspace("emptied")
    try emptied.removeAll()
    for number in 0..<8 { expected["emptied"]?[bytes("key \(number)")] = .some(nil) }
    try put("again", "key 0", "emptied")
    try put("last", "last", "")
    try store.remove("key 3")
    expected[""]?[bytes("key 3")] = .some(nil)
    (tail, tailHeaders) = try Self.tail(of: store)
    try store.close()
    image = try DiskImage(of: machine)
    self.expected = expected
  }

  /// The unsealed segment's file name, and where the headers of its records stand.
  private static func tail(of store: LogStore) throws -> (String, [Range<Int>]) {
    let last = try #require(store.probe.segments.last { !$0.isSealed })
    let segment = try #require(store.probe.hold(last.id))
    return (String(segment.path.split(separator: "/").last ?? ""), headers(of: segment))
  }

  private static func headers(of segment: HeldSegment) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var offset = SegmentHeader.length
    while case .record(let header) = segment.readRecord(at: offset) {
      let length = (header.expires ? 8 : 0) + (header.keyspace == .default ? 0 : 8) + 32
      ranges.append(offset..<offset + length)
      offset += header.size
    }
    return ranges
  }

  /// Whether the only account of some record is gone: a header of the unsealed tail, when there is no checkpoint.
  ///
  /// Nobody can tell then which key it was. The damage is reported, and an older value of that key may show.
  func isOnlyAccount(_ name: String, _ offset: Int, in image: DiskImage) -> Bool {
    name == tail && !image.names.contains { $0.hasSuffix(".checkpoint") }
      && tailHeaders.contains { $0.contains(offset) }
  }

  /// Opens a damaged image and asks for everything.
  ///
  /// - Parameter isThorough: also writes, verifies and closes, which costs much more.
  func outcome(of image: DiskImage, readOnly: Bool = false, isThorough: Bool) throws -> Outcome {
    var outcome = Outcome()
    let machine = try image.machine()
    let log = EventLog()
    let store: LogStore
    do throws(StoreError) {
      store = try machine.open {
        $0.onEvent = { log.record($0) }
        $0.readOnly = readOnly
      }
    } catch {
      outcome.openError = error
      return outcome
    }
    outcome.events = log.damage.count
    for (space, keys) in expected {
      let keyspace: Keyspace
      do throws(StoreError) { keyspace = try store.keyspace(space) } catch {
        outcome.damagedKeys += keys.count
        continue
      }
      for (key, expected) in keys {
        let name = "\(space)/\(String(decoding: key, as: UTF8.self))"
        let alone = Result { () throws(StoreError) in try keyspace.get(key) }
        let together = Result { () throws(StoreError) in try keyspace.get([key]) }
        if together != alone.map({ [$0] }) { outcome.wrong.append("\(name): \(together) together, \(alone) alone") }
        do throws(StoreError) {
          let value = try alone.get()
          if value == expected { continue }
          if value == nil { outcome.lost.append(name) } else { outcome.wrong.append(name) }
        } catch {
          guard case .damaged = error else {
            outcome.wrong.append("\(name): \(error)")
            continue
          }
          outcome.damagedKeys += 1
        }
      }
      checkOrder(of: keyspace, keys.keys, &outcome)
      if isThorough, !readOnly { try checkWritable(keyspace) }
    }
    if isThorough { _ = try? store.verify() }
    for entry in try store.snapshot() {
      guard let key = try? entry.key(), let value = try? entry.value() else { continue }
      let known = expected[entry.keyspace]?[key] ?? .some(value)
      if key != bytes("healed"), known != value {
        outcome.wrong.append("snapshot \(entry.keyspace)/\(String(decoding: key, as: UTF8.self))")
      }
    }
    if isThorough { try? store.close() } else { store.probe.kill() }
    return outcome
  }

  /// In order, there are the keys that a get finds, with their values, or there is an error.
  private func checkOrder(of keyspace: Keyspace, _ keys: some Sequence<[UInt8]>, _ outcome: inout Outcome) {
    var found: [[UInt8]: [UInt8]] = [:]
    do throws(StoreError) {
      for (key, value) in try keyspace.entries() { found[key] = value }
    } catch {
      guard case .damaged = error else { return outcome.wrong.append("\(keyspace.name) in order: \(error)") }
      outcome.damagedKeys += 1
      return
    }
    // A key that is damaged is not passed over in silence.
    for key in Set(keys).union(found.keys) {
      let alone = Result { () throws(StoreError) in try keyspace.get(key) }
      guard alone != .success(found[key]) else { continue }
      outcome.wrong.append("\(keyspace.name)/\(String(decoding: key, as: UTF8.self)) in order, alone \(alone)")
    }
  }

  /// A store that opens takes writes.
  private func checkWritable(_ keyspace: Keyspace) throws {
    try keyspace.put("healed", forKey: "healed")
    guard try keyspace.get("healed") == bytes("healed") else { throw StoreError.closed }
  }

  /// The name without the digits that differ between stores.
  static func kind(of name: String) -> String {
    if name.hasSuffix(".segment") { return "segment" }
    if name.hasSuffix(".checkpoint") { return "checkpoint" }
    return name.hasPrefix("manifest") ? "manifest" : name
  }
}

/// Counts outcomes by kind of file and prints one line for each.
struct DamageTally {
  private var rows: [String: (cases: Int, refused: Int, erring: Int, lost: Int, wrong: Int)] = [:]
  private(set) var failures: [String] = []

  /// - Parameters:
  ///   - opens: the store must open.
  ///   - mayExpose: keys may be lost or show an older value, but not in silence.
  mutating func add(
    _ outcome: DamagedStore.Outcome,
    kind: String,
    _ what: String,
    opens: Bool = true,
    mayExpose: Bool = false
  ) {
    let isAllowed = mayExpose && outcome.events > 0
    var row = rows[kind] ?? (0, 0, 0, 0, 0)
    row.cases += 1
    if let error = outcome.openError {
      row.refused += 1
      if opens { failures.append("\(what): opening threw \(error)") }
    }
    if outcome.damagedKeys > 0 { row.erring += 1 }
    if !outcome.lost.isEmpty {
      row.lost += 1
      if !isAllowed { failures.append("\(what): lost \(outcome.lost)") }
    }
    if !outcome.wrong.isEmpty {
      row.wrong += 1
      if !isAllowed { failures.append("\(what): wrong \(outcome.wrong)") }
    }
    rows[kind] = row
  }

  func print(_ title: String) {
    for (kind, row) in rows.sorted(by: { $0.key < $1.key }) {
      Swift.print(
        "\(title), \(kind): \(row.cases) cases, \(row.refused) refused to open, \(row.erring) with keys in error, "
          + "\(row.lost) with keys lost, \(row.wrong) with wrong values"
      )
    }
  }
}
