internal import EskerFormat
internal import EskerLog

/// The newest record of each key among those that were read.
struct SalvageCensus {
  /// A key, identified by its hash; keys with the same hash are distinguished by `turn`.
  struct Identity: Hashable {
    var hash: UInt64
    var keyspace: UInt32
    var turn: UInt32 = 0
  }

  struct Newest {
    var sequence: UInt64
    var expiry: Int64
    /// The position of the segment in the source, and the offset in it.
    var segment: Int32
    var offset: Int
    var incarnation: UInt32
    var isPut: Bool
  }

  private(set) var newest: [Identity: Newest] = [:]
  /// How often each keyspace was emptied: older records do not count.
  private var incarnations: [UInt32: UInt32] = [:]

  /// Whether a keyspace was removed before the manifest was written.
  private let isForgotten: (UInt32) -> Bool

  init(_ manifest: Manifest?) {
    let (listed, next) = (Set((manifest?.keyspaces ?? []).map(\.id)), manifest?.nextKeyspaceID ?? 0)
    isForgotten = { id in id != 0 && id < next && !listed.contains(id) }
    for row in manifest?.keyspaces ?? [] { incarnations[row.id] = row.incarnation }
  }

  /// Adds a record; false, leaving it out, if more keys share its hash than in any real store.
  mutating func take(
    _ header: RecordHeader,
    at offset: Int,
    of position: Int,
    _ isSameKey: (Newest) -> Bool
  ) -> Bool {
    let tag = header.keyspace
    incarnations[tag.id] = max(incarnations[tag.id] ?? 0, tag.incarnation)
    guard header.kind == .put || header.kind == .tombstone else { return true }
    var identity = Identity(hash: header.keyHash, keyspace: tag.id)
    while let known = newest[identity], !isSameKey(known) {
      guard identity.turn < DamageRules.mostAlike else { return false }
      identity.turn += 1
    }
    // A tombstone may have the same number as the record that it replaces.
    if let known = newest[identity],
      (known.sequence, known.isPut ? 0 : 1) >= (header.sequence, header.kind == .put ? 0 : 1)
    {
      return true
    }
    newest[identity] = Newest(
      sequence: header.sequence,
      expiry: header.expiry,
      segment: Int32(position),
      offset: offset,
      incarnation: tag.incarnation,
      isPut: header.kind == .put
    )
    return true
  }

  /// The newest record with the same hash as a record that cannot be read.
  func newest(like header: RecordHeader) -> Newest? {
    newest[Identity(hash: header.keyHash, keyspace: header.keyspace.id)]
  }

  func isCurrent(_ incarnation: UInt32, of keyspace: UInt32) -> Bool {
    incarnation >= incarnations[keyspace] ?? 0 && !isForgotten(keyspace)
  }

  /// Whether a keyspace was removed: the manifest may list it until the removal was durable.
  func isRemoved(_ keyspace: UInt32) -> Bool {
    isForgotten(keyspace) || KeyspaceTag(id: keyspace, incarnation: incarnations[keyspace] ?? 0).isRemoved
  }

  /// The contents of the store, oldest first.
  var entries: [(keyspace: UInt32, record: Newest)] {
    newest.filter { $1.isPut && isCurrent($1.incarnation, of: $0.keyspace) }
      .map { ($0.keyspace, $1) }
      .sorted { $0.1.sequence < $1.1.sequence }
  }
}
