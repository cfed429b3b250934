/// The hashes of a small keyspace's keys, so that what concerns only its entries does not read the whole store.
///
/// Invariant: it has the hash of every entry of the keyspace's present incarnation to which the index leads. It may also have
/// hashes of keys that are gone, and one more than once.
struct KeyRoster {
  /// The most hashes: beyond, a keyspace has no roster.
  static let limit = 1024
  private static let least = 16

  private(set) var hashes: [UInt64]
  /// The number of hashes that there is room for: what it counts for in the budget of all rosters.
  private(set) var room: Int

  /// An empty one, without room.
  init() {
    hashes = []
    room = 0
  }

  /// One with these hashes and as much room as one that grew to hold them; nil if they are too many.
  init?(_ hashes: [UInt64]) {
    var room = Self.least
    while room < hashes.count { room *= 2 }
    guard room <= Self.limit else { return nil }
    self.hashes = hashes
    self.room = room
  }

  var isFull: Bool { hashes.count >= room }

  mutating func append(_ hash: UInt64) { hashes.append(hash) }

  /// Keeps only the given hashes, and makes room for more; false if that is more than a keyspace, or all of them, may have.
  mutating func renew(_ kept: [UInt64], budget: Int) -> Bool {
    var room = max(Self.least, room)
    while kept.count > room / 4 * 3 { room *= 2 }
    guard room <= Self.limit, room - self.room <= budget else { return false }
    hashes = kept
    hashes.reserveCapacity(room)
    self.room = room
    return true
  }
}
