internal import EskerIndex
internal import EskerPlatform

/// The keys of one keyspace in a snapshot, in order.
///
/// If the keyspace keeps its keys in order, they are taken from there, some at a time: to the records of those that are as they were the
/// index still leads, and what it has left since was noted before. So the order is asked first, the index second, and the notes last.
/// If it does not, all entries are read and sorted, once.
///
/// Thread safety: any thread. No lock is held while records are read.
final class SnapshotOrder: Sendable {
  private struct Noted {
    /// How many of the snapshot's notes were read.
    var count = 0
    /// The keys of those that are of the keyspace: in several parts, each more than twice as long as the next.
    var parts: [SortedKeys] = []
  }

  /// The least that is read at once, and the most.
  static let pageLengths = (least: 16, most: 128)

  private let keyspace: UInt32
  /// nil if all keys were sorted.
  private let live: KeyOrder?
  /// The keys that the order had at first: what has come behind them since is not read, or a scan might never end beside a writer.
  private let span: (first: [UInt8], last: [UInt8])?
  private let noted: Guarded<Noted>
  /// What stands for keys that cannot be read.
  let damaged: [Snapshot.Entry]

  /// Whether it reads the keyspace's own order.
  var isLive: Bool { live != nil }

  /// The keys of a keyspace's order, which has all that the snapshot shows and the index has not left; nil if it is damaged.
  init?(_ order: KeyOrder, ofKeyspace id: UInt32) {
    var (first, last) = (KeyBatch(), KeyBatch())
    guard order.read(.all, .ascending, limit: 1, into: &first), order.read(.all, .descending, limit: 1, into: &last)
    else { return nil }
    keyspace = id
    live = order
    if let first = first.last, let last = last.last { span = (Array(first), Array(last)) } else { span = nil }
    noted = Guarded(Noted(), .leaf)
    damaged = []
  }

  /// The keys of entries.
  init(of entries: some Sequence<Snapshot.Entry>, ofKeyspace id: UInt32) {
    var (keys, damaged): (SortedKeys, [Snapshot.Entry]) = (SortedKeys(), [])
    for entry in entries {
      do throws(StoreError) { try keys.append(entry) } catch { damaged.append(entry) }
    }
    keys.sort()
    keyspace = id
    live = nil
    span = nil
    noted = Guarded(Noted(parts: [keys]), .leaf)
    self.damaged = damaged
  }

  /// The entries of the first keys of a range, and where the next ones are; nil if damage is in the way, so that all have to be sorted.
  func page(
    of range: KeyRange,
    _ direction: KeyRange.Direction,
    limit: Int,
    in snapshot: Snapshot
  ) -> (entries: [Snapshot.Entry], rest: KeyRange?)? {
    var rows: [Row] = []
    var end: ArraySlice<UInt8>?
    if let live {
      var keys = KeyBatch()
      if let span {
        let part = range.from(span.first).through(span.last)
        guard live.read(part, direction, limit: limit, into: &keys) else { return nil }
      }
      guard let found = try? Self.entries(of: keys, ofKeyspace: keyspace, in: snapshot), readNotes(in: snapshot)
      else { return nil }
      rows = found
      if keys.count == limit { end = keys.last }
    }
    for part in noted.withLock({ $0.parts }) {
      let places = part.places(of: range.ending(at: end, direction), direction, limit: limit)
      rows += places.compactMap { place in
        snapshot.entry(at: part.address(place), ofKeyspace: keyspace).map { Row(key: part.key(place), entry: $0) }
      }
      // Of each there may be more, so what lies behind its last one waits.
      if places.count == limit {
        end = direction == .ascending ? part.key(places.upperBound - 1) : part.key(places.lowerBound)
      }
    }
    return (Self.inOrder(rows, direction, through: end), end.map { range.continuing(behind: $0, direction) })
  }

  private struct Row {
    var key: ArraySlice<UInt8>
    var entry: Snapshot.Entry
  }

  /// The entries to which the index leads that the snapshot shows.
  private static func entries(
    of keys: KeyBatch,
    ofKeyspace id: UInt32,
    in snapshot: Snapshot
  ) throws(StoreError) -> [Row] {
    var rows: [Row] = []
    guard let keyspace = snapshot.keyspaces[id] else { return rows }
    rows.reserveCapacity(keys.count)
    let hash = snapshot.place(of: keyspace.tag, named: keyspace.name).hash
    // Safety: the keys are lent by the batch's array, which does not change meanwhile.
    try unsafe keys.bytes.withUnsafeBytesTyped { (bytes) throws(StoreError) in
      for position in 0..<keys.count {
        let place = keys.place(position)
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[place])
        for address in try unsafe snapshot.addresses(for: hash.hash(key)) {
          guard let entry = snapshot.entry(at: address, ofKeyspace: id) else { continue }
          let isIts = try entry.withKey { (found) throws(StoreError) in
            unsafe found.withUnsafeBytes { unsafe KeyTree.compare($0, key) == 0 }
          }
          if isIts { rows.append(Row(key: keys.bytes[place], entry: entry)) }
        }
      }
    }
    return rows
  }

  /// Each key once: a record may have been noted after the index was asked for it.
  private static func inOrder(
    _ rows: [Row],
    _ direction: KeyRange.Direction,
    through end: ArraySlice<UInt8>?
  ) -> [Snapshot.Entry] {
    let ascending = rows.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    var entries: [Snapshot.Entry] = []
    var last: ArraySlice<UInt8>?
    for row in direction == .ascending ? ascending : ascending.reversed() {
      if let end,
        direction == .ascending ? end.lexicographicallyPrecedes(row.key) : row.key.lexicographicallyPrecedes(end)
      {
        break
      }
      if last == row.key { continue }
      last = row.key
      entries.append(row.entry)
    }
    return entries
  }

  /// Reads what was noted until now; false if a record cannot be read.
  private func readNotes(in snapshot: Snapshot) -> Bool {
    let end = snapshot.supersededCount
    while case let before = noted.withLock({ $0 }), before.count < end {
      let addresses = snapshot.superseded(behind: before.count)
      var keys = SortedKeys()
      for address in addresses {
        guard let entry = snapshot.entry(at: address, ofKeyspace: keyspace) else { continue }
        do throws(StoreError) { try keys.append(entry) } catch { return false }
      }
      keys.sort()
      var after = before
      after.count += addresses.count
      while let last = after.parts.last, last.count <= 2 * keys.count {
        after.parts.removeLast()
        keys.append(last)
        keys.sort()
      }
      if keys.count > 0 { after.parts.append(keys) }
      let result = after
      // Another thread may have read the same.
      noted.withLock { if $0.count == before.count { $0 = result } }
    }
    return true
  }
}

extension KeyRange {
  /// The part that ends with a key, in a direction; all of it if there is none.
  fileprivate func ending(at end: ArraySlice<UInt8>?, _ direction: Direction) -> KeyRange {
    guard let end else { return self }
    return direction == .ascending ? through(end) : from(end)
  }

  /// The part that comes behind a key, in a direction.
  fileprivate func continuing(behind key: ArraySlice<UInt8>, _ direction: Direction) -> KeyRange {
    direction == .ascending ? after(key) : upTo(key)
  }
}
