internal import EskerFormat
internal import EskerIndex
internal import EskerLog
internal import EskerPlatform

/// The newest record of each key among those that were read.
///
/// Holds only where it is, in an index like that of a store, of 15 bytes a key: all else is read in the file again.
struct SalvageCensus {
  private let files: SalvageFiles
  /// Nil once the entries were taken.
  private var index: HashIndex?
  /// How often each keyspace was emptied: older records do not count.
  private var incarnations: [UInt32: UInt32] = [:]

  /// Whether a keyspace was removed before the manifest was written.
  private let isForgotten: (UInt32) -> Bool

  /// - Throws: When out of memory.
  init(_ manifest: Manifest?, _ files: SalvageFiles) throws(StoreError) {
    self.files = files
    index = HashIndex(epochs: EpochDomain())
    let (listed, next) = (Set((manifest?.keyspaces ?? []).map(\.id)), manifest?.nextKeyspaceID ?? 0)
    isForgotten = { id in id != 0 && id < next && !listed.contains(id) }
    for row in manifest?.keyspaces ?? [] { incarnations[row.id] = row.incarnation }
    guard index != nil else { throw files.outOfMemory }
  }

  /// Adds a record; false, leaving it out, if more keys share its hash than in any real store.
  ///
  /// - Parameter isSameKey: Whether a record with the same hash in the same keyspace, at the address, has the same key.
  /// - Throws: When out of memory.
  mutating func take(
    _ header: RecordHeader,
    at address: UInt64,
    _ isSameKey: (UInt64) -> Bool
  ) throws(StoreError) -> Bool {
    let tag = header.keyspace
    incarnations[tag.id] = max(incarnations[tag.id] ?? 0, tag.incarnation)
    guard header.kind == .put || header.kind == .tombstone else { return true }
    guard let index, index.reserve() else { throw files.outOfMemory }
    var probe = index.writeProbe(header.keyHash)
    var alike = 0
    while let found = probe.next() {
      guard let known = files.header(at: found), Self.isAlike(known, header) else { continue }
      guard isSameKey(found) else {
        alike += 1
        if alike > DamageRules.mostAlike { return false }
        continue
      }
      // A tombstone may have the same number as the record that it replaces.
      if (known.sequence, known.kind == .put ? 0 : 1) < (header.sequence, header.kind == .put ? 0 : 1) {
        probe.replaceCurrent(with: address)
      }
      return true
    }
    guard index.insert(header.keyHash, address: address, after: probe) else { throw files.outOfMemory }
    return true
  }

  private static func isAlike(_ one: RecordHeader, _ other: RecordHeader) -> Bool {
    one.keyHash == other.keyHash && one.keyspace.id == other.keyspace.id
  }

  /// The newest record with the same hash as a record that cannot be read, and its address.
  func newest(like header: RecordHeader) -> (address: UInt64, header: RecordHeader)? {
    guard var probe = index?.reader.probe(header.keyHash) else { return nil }
    while let address = probe.next() {
      if let known = files.header(at: address), Self.isAlike(known, header) { return (address, known) }
    }
    return nil
  }

  func isCurrent(_ incarnation: UInt32, of keyspace: UInt32) -> Bool {
    incarnation >= incarnations[keyspace] ?? 0 && !isForgotten(keyspace)
  }

  /// Whether a keyspace was removed: the manifest may list it until the removal was durable.
  func isRemoved(_ keyspace: UInt32) -> Bool {
    isForgotten(keyspace) || KeyspaceTag(id: keyspace, incarnation: incarnations[keyspace] ?? 0).isRemoved
  }

  /// Takes out the addresses of the contents of the store, oldest first: 8 bytes a key, in place of the index.
  mutating func takeEntries() -> [UInt64] {
    guard let index else { return [] }
    var addresses: [UInt64] = []
    addresses.reserveCapacity(index.count)
    _ = index.forEachEntry(inBuckets: 0..<index.bucketCount) { addresses.append($0.address) }
    self.index = nil
    addresses.sort()
    // One segment after the other, so that no more than one of them is in memory.
    var (last, isInOrder): (UInt64, Bool) = (0, true)
    var window = SalvageWindow(files)
    addresses.removeAll { address in
      window.pass(address)
      guard let header = files.header(at: address), header.kind == .put,
        isCurrent(header.keyspace.incarnation, of: header.keyspace.id)
      else { return true }
      isInOrder = isInOrder && header.sequence >= last
      last = header.sequence
      return false
    }
    // Merges have written segments that are not in the order of history.
    if !isInOrder {
      let files = files
      addresses.sort { files.sequence(at: $0) < files.sequence(at: $1) }
      files.detachAll()
    }
    return addresses
  }
}
