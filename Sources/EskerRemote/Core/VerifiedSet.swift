/// Which copies in the log are known to be current: hashes of keys, with the hash of the version and the generation in which that was
/// learnt. In memory only, so after a restart nothing is.
///
/// An open-addressed table of lines of four entries of 16 bytes. A full line drops its oldest entry, which costs a check and nothing
/// else. Where the 32 bits kept of two keys' hashes are equal, 64 bits of their versions would have to be equal too for one to be taken
/// for the other.
struct VerifiedSet: Sendable {
  private struct Entry {
    var version: UInt64 = 0
    var key: UInt32 = 0
    /// 0 for an entry that is free.
    var generation: UInt32 = 0
  }

  private static let width = 4
  private var entries: [Entry]
  private let mask: Int

  /// A table for at least `capacity` entries, of 16 bytes each.
  init(capacity: Int) {
    var lines = 1
    while lines * Self.width < capacity { lines *= 2 }
    entries = Array(repeating: Entry(), count: lines * Self.width)
    mask = lines - 1
  }

  var capacity: Int { entries.count }

  private func line(_ hash: UInt64) -> Range<Int> {
    let first = (Int(truncatingIfNeeded: hash) & mask) * Self.width
    return first..<first + Self.width
  }

  private static func key(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

  /// Whether the key's copy of that version was verified in `generation`.
  func contains(_ hash: UInt64, _ version: RemoteVersion, in generation: UInt32) -> Bool {
    let key = Self.key(hash)
    for index in line(hash) {
      let entry = entries[index]
      if entry.key == key, entry.generation == generation, generation != 0 { return entry.version == version.digest }
    }
    return false
  }

  /// Notes that the key's copy of that version is current, and no other.
  mutating func insert(_ hash: UInt64, _ version: RemoteVersion, in generation: UInt32) {
    remove(hash)
    let line = line(hash)
    let entry = Entry(version: version.digest, key: Self.key(hash), generation: generation)
    let place = line.first { entries[$0].generation == 0 }
    // The newest stands last.
    let free = place ?? line.lowerBound
    for index in free..<line.upperBound - 1 { entries[index] = entries[index + 1] }
    entries[line.upperBound - 1] = entry
  }

  /// Forgets the key, unless the copy that is known to be current has `version`.
  mutating func remove(_ hash: UInt64, unless version: RemoteVersion? = nil) {
    let key = Self.key(hash)
    for index in line(hash) where entries[index].key == key && entries[index].generation != 0 {
      if let version, entries[index].version == version.digest { continue }
      entries[index] = Entry()
    }
  }
}

extension RemoteVersion {
  /// 64 bits in which two versions differ, except with a probability of 2⁻⁶⁴.
  @inlinable
  var digest: UInt64 {
    var mixed = (high ^ writer &* 0x9E37_79B9_7F4A_7C15) &+ 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
