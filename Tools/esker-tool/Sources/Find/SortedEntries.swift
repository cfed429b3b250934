import Esker

/// Collects entries in an order; no more of them than twice the limit, and a few.
///
/// What is sorted is small: a number for each entry, and eight bytes of its key, which decide most comparisons.
struct SortedEntries {
  private struct Item {
    var rank: Int64
    /// Of the key, the first eight bytes in which it may differ from others, as a number in their order.
    var head: UInt64 = 0
    /// Where the entry and its key are.
    var place: Int
    var keyspace: Int
  }

  private let rank: EntryOrder.Rank
  private let isReversed: Bool
  private let limit: Int
  private var items: [Item] = []
  private var entries: [Snapshot.Entry] = []
  private var keys = Keys()
  /// What the entries are ordered by, if it is a field.
  private var scalars: [Scalar] = []
  /// The names of keyspaces, in the order in which they came.
  private var keyspaces: [String] = []

  init(by rank: EntryOrder.Rank, isReversed: Bool, limit: Int) {
    self.rank = rank
    self.isReversed = isReversed
    self.limit = limit
  }

  /// - Parameter scalar: What the entry is ordered by, if it is a field.
  /// - Throws: ``StoreError/damaged(_:reason:)``.
  mutating func add(_ entry: borrowing Snapshot.Entry, by scalar: Scalar? = nil) throws(StoreError) {
    let place = entries.count
    try entry.withKey { (key) throws(StoreError) in keys.append(key) }
    entries.append(copy entry)
    let scalar = scalar?.asInstant
    if let scalar { scalars.append(scalar) }
    let rank = scalar?.kind ?? number(of: entry)
    items.append(Item(rank: rank, place: place, keyspace: number(ofKeyspace: entry.keyspace)))
    guard limit < .max / 4, items.count >= 2 * limit + 1000 else { return }
    keepFirst()
  }

  /// Calls `body` with all of them, or as many as the limit allows.
  mutating func forEach(_ body: (borrowing Snapshot.Entry) throws -> Void) rethrows {
    sort()
    for item in items.prefix(limit) { try body(entries[item.place]) }
  }

  private func number(of entry: borrowing Snapshot.Entry) -> Int64 {
    switch rank {
    case .key, .field: return 0
    case .valueSize: return Int64(entry.valueLength)
    case .expiry:
      guard case .at(let time) = entry.expiry else { return .max }
      return time.millisecondsSince1970
    }
  }

  private mutating func number(ofKeyspace name: String) -> Int {
    if let last = items.last?.keyspace, keyspaces[last] == name { return last }
    if let known = keyspaces.firstIndex(of: name) { return known }
    keyspaces.append(name)
    return keyspaces.count - 1
  }

  /// Forgets what is behind the limit.
  private mutating func keepFirst() {
    sort()
    items.removeSubrange(limit...)
    let (allEntries, allKeys, allScalars) = (entries, keys, scalars)
    entries.removeAll(keepingCapacity: true)
    scalars.removeAll(keepingCapacity: true)
    keys.removeAll()
    for position in items.indices {
      let place = items[position].place
      items[position].place = entries.count
      entries.append(allEntries[place])
      keys.append(from: allKeys, place)
      if !allScalars.isEmpty { scalars.append(allScalars[place]) }
    }
  }

  private mutating func sort() {
    let (isReversed, keys, scalars) = (isReversed, keys, scalars)
    var order = [Int](repeating: 0, count: keyspaces.count)
    for (position, number) in keyspaces.indices.sorted(by: { keyspaces[$0] < keyspaces[$1] }).enumerated() {
      order[number] = position
    }
    for position in items.indices { items[position].head = keys.head(items[position].place) }
    func precedes(_ left: Item, _ right: Item) -> Bool {
      if left.rank != right.rank { return left.rank < right.rank }
      if !scalars.isEmpty {
        let (one, other) = (scalars[left.place], scalars[right.place])
        if one.isLess(than: other) { return true }
        if other.isLess(than: one) { return false }
      }
      if left.keyspace != right.keyspace { return order[left.keyspace] < order[right.keyspace] }
      if left.head != right.head { return left.head < right.head }
      return keys.precedes(left.place, right.place)
    }
    let nothing = scalars.isEmpty ? nil : Scalar.null.kind
    items.sort { left, right in
      if let nothing, left.rank == nothing || right.rank == nothing, left.rank != right.rank {
        return right.rank == nothing
      }
      return isReversed ? precedes(right, left) : precedes(left, right)
    }
  }

  /// Keys one behind the other.
  private struct Keys {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    /// How many bytes all of them begin with.
    private var common = Int.max

    mutating func append(_ key: RawSpan) {
      let start = bytes.count
      bytes.append(contentsOf: key)
      ends.append(bytes.count)
      // Of the first key, whose bytes stand at the beginning.
      var length = 0
      let limit = min(common, bytes.count - start)
      while length < limit, bytes[length] == bytes[start + length] { length += 1 }
      common = length
    }

    /// Eight bytes as a number in their order, with zeros behind a short key.
    func head(_ place: Int) -> UInt64 {
      let key = self[place].dropFirst(common)
      var head: UInt64 = 0
      for index in key.startIndex..<key.startIndex + 8 {
        head = head << 8 | (index < key.endIndex ? UInt64(bytes[index]) : 0)
      }
      return head
    }

    /// Appends one of keys that have as many bytes in common.
    mutating func append(from other: Keys, _ place: Int) {
      bytes += other[place]
      ends.append(bytes.count)
    }

    /// Removes the keys, but not what is known of the bytes that they had in common.
    mutating func removeAll() {
      bytes.removeAll(keepingCapacity: true)
      ends.removeAll(keepingCapacity: true)
    }

    func precedes(_ left: Int, _ right: Int) -> Bool { self[left].lexicographicallyPrecedes(self[right]) }

    private subscript(place: Int) -> ArraySlice<UInt8> { bytes[(place == 0 ? 0 : ends[place - 1])..<ends[place]] }
  }
}

extension Scalar {
  /// Where a value stands among those of other types.
  fileprivate var kind: Int64 {
    switch self {
    case .integer, .number: 0
    case .instant: 1
    case .text: 2
    case .bool: 3
    case .structure: 4
    case .null: 5
    }
  }

  /// A text in ISO 8601 as the instant that it is.
  fileprivate var asInstant: Scalar {
    guard case .text(let bytes) = self else { return self }
    return microseconds(ofInstant: String(decoding: bytes, as: UTF8.self)).map { .instant($0, bytes) } ?? self
  }
}
