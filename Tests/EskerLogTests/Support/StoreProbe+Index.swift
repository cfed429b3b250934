import EskerFormat

@testable import EskerIndex
@testable import EskerLog

/// The index.
extension StoreProbe {
  /// So many keys of one hash are told apart.
  static let mostAlike = Keydir.mostAlike

  /// What is said of a log that has more.
  static let tooManyAlike = Keydir.tooManyAlike

  private var index: HashIndex { engine.keydir.indexUnderTest }

  /// Entries of the index.
  var indexCount: Int { index.count }

  /// Buckets of the index.
  var bucketCount: Int { index.bucketCount }

  /// What contradicts itself in the index.
  var indexProblems: [String] { index.checkInvariants() }

  /// What stands in each bucket of the index.
  var bucketWords: [[UInt64]] {
    (0..<index.bucketCount).map { index.saveBucket($0)?.words ?? [] }
  }

  /// Where the index leads to.
  var places: Set<UInt64> {
    var places: Set<UInt64> = []
    index.forEachEntry(inBuckets: 0..<index.bucketCount) { places.insert($0.address) }
    return places
  }

  /// The record that the index leads to for a key, expired or not.
  func indexed(_ key: [UInt8], in keyspace: Keyspace) throws(StoreError) -> StoreModel.Value? {
    let core = keyspace.core
    let result: Result<StoreModel.Value?, StoreError> = key.withUnsafeBytes { pointer in
      Result { () throws(StoreError) in
        let hash = core.incarnation.pointee.hash.hash(pointer)
        var probe = index.writeProbe(hash)
        let existing = try engine.keydir.findForWrite(hash, pointer, core.tag, &probe)
        guard existing.address != 0, let place = engine.catalog.granules.place(of: existing.address) else { return nil }
        if let found = existing.damage { throw engine.keydir.damage(at: existing.address, found, key: Array(pointer)) }
        switch StoredRecord(at: place) {
        case .plain(let record, _):
          return StoreModel.Value(bytes: [UInt8](record.value), expiry: record.expiry, version: record.sequence)
        case .packed(let entry, let view):
          let value = try engine.keydir.value(of: entry, in: view, at: existing.address)
          return StoreModel.Value(bytes: value, expiry: entry.expiry, version: entry.sequence)
        case nil: return nil
        }
      }
    }
    return try result.get()
  }

  /// Makes the index lead to a place beside the record of a key of the default keyspace; false when it leads nowhere for it.
  func misdirect(_ key: [UInt8]) -> Bool {
    let hash = key.withUnsafeBytes { KeyHash(seed: engine.env.seed).hash($0) }
    return engine.writer.withLock { _ in
      var probe = index.probe(hash)
      guard let address = probe.next() else { return false }
      return index.replace(hash, address: address, with: address + 1)
    }
  }

  /// Takes entries of emptied keyspaces out of the index, as the background does.
  func sweep() { engine.maintainer.purgeEmptiedKeyspaces() }

  /// Takes every entry out of the index, as if all had expired; how many there were.
  func purgeAll() -> Int { engine.maintainer.purge { _ in true } }

  /// How many places of a snapshot's records a verification finds in the index, when something happens between its look at
  /// the last of the buckets and those at all others.
  func placesFound(of snapshot: Snapshot, _ meanwhile: () -> Void) -> Int {
    guard let round = IndexTargets.rounds(engine.keydir, snapshot.extents).first else { return 0 }
    let targets = IndexTargets.all(engine.writer, round) { jobs in
      let last = jobs[jobs.count - 1]()
      meanwhile()
      return jobs.dropLast().map { $0() } + [last]
    }
    return round.extents.indices.reduce(0) { sum, position in
      sum + Set(targets.flatMap { $0.lists[position] }).count
    }
  }
}

/// Keys that share what the index keeps of a hash.
extension StoreProbe {
  /// Two keys of the default keyspace that only their records tell apart, as long as the index is small.
  func alikeKeys() -> ([UInt8], [UInt8]) {
    let hash = KeyHash(seed: engine.env.seed)
    var seen: [UInt64: Int] = [:]
    var number = 0
    while true {
      // The number of the bucket and the fingerprint, which are 12 and 24 bits then.
      let bits = Array("key \(number)".utf8).withUnsafeBytes { hash.hash($0) } & (1 << 36 - 1)
      if let other = seen.updateValue(number, forKey: bits) {
        return (Array("key \(other)".utf8), Array("key \(number)".utf8))
      }
      number += 1
    }
  }
}
