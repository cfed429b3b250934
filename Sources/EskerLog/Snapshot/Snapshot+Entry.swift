internal import EskerFormat
internal import EskerPlatform

extension Snapshot {
  /// One entry of a snapshot. Its key and value are read on demand, and stay readable as long as the entry exists. Thread safety: any
  /// thread.
  ///
  /// Safety: the entry keeps its segment and with it the mapping, where records do not change. Views and spans are used only inside
  /// the functions below, within the segment's end as its functions check, and what is returned is copied.
  public struct Entry: Sendable {
    private let segment: Segment
    private var offset: Int
    /// The length in bytes of the record, or of the damaged range.
    private(set) var length: Int
    /// nil if the record's header is damaged.
    private var facts: Facts?

    /// The fields of a record's header.
    private struct Facts {
      var sequence: UInt64
      var expiry: Int64
      var keyHash: UInt64
      var keyLength: UInt16
      var valueLength: UInt32
    }

    /// The hash of keys in the keyspace.
    private var hash: KeyHash

    /// A keyspace as entries know it: each incarnation has another hash.
    struct Place {
      let name: String
      let hash: KeyHash

      /// That of damage, which may be of any.
      static let none = Place(name: "", hash: KeyHash(seedLow: 0, seedHigh: 0))
    }

    /// The keyspace's name; empty for the default keyspace.
    public private(set) var keyspace: String

    init(segment: Segment, offset: Int, header: RecordHeader, keyspace: Place) {
      self.init(in: segment)
      move(to: offset, header, in: keyspace)
    }

    init(segment: Segment, _ entry: PackedEntry, keyspace: Place) {
      self.init(in: segment)
      move(to: entry, in: keyspace)
    }

    /// No entry yet: the next one is moved to.
    init(in segment: Segment) {
      self.segment = segment
      offset = 0
      length = 0
      keyspace = Place.none.name
      hash = Place.none.hash
    }

    mutating func move(to offset: Int, _ header: RecordHeader, in place: Place) {
      self.offset = offset
      length = header.size
      facts = Facts(
        sequence: header.sequence,
        expiry: header.expiry,
        keyHash: header.keyHash,
        keyLength: header.keyLength,
        valueLength: header.valueLength
      )
      if hash != place.hash {
        keyspace = place.name
        hash = place.hash
      }
    }

    mutating func move(to entry: PackedEntry, in place: Place) {
      offset = entry.offset
      length = entry.size
      facts = Facts(
        sequence: entry.sequence,
        expiry: entry.expiry,
        // The key is covered by a checksum of its own.
        keyHash: 0,
        keyLength: UInt16(truncatingIfNeeded: entry.keyLength),
        valueLength: UInt32(truncatingIfNeeded: entry.valueLength)
      )
      if hash != place.hash {
        keyspace = place.name
        hash = place.hash
      }
    }

    mutating func move(toDamage range: Range<Int>) {
      offset = range.lowerBound
      length = range.count
      facts = nil
      keyspace = Place.none.name
      hash = Place.none.hash
    }

    /// Where the record, or the damaged range, ends in its segment.
    var end: Int { offset + length }

    /// Where the record is.
    var address: UInt64 { segment.address(of: offset) }

    /// The sequence number of the write that stored the value; 0 if the record's header is damaged.
    public var version: SequenceNumber { SequenceNumber(rawValue: facts?.sequence ?? 0) }

    /// When the value expires: `.never` or `.at`.
    public var expiry: Expiry { Expiry(stored: facts?.expiry ?? .max) }

    /// The length in bytes of the key; 0 if the record's header is damaged.
    public var keyLength: Int { Int(facts?.keyLength ?? 0) }

    /// The length in bytes of the value; 0 if the record's header is damaged.
    public var valueLength: Int { Int(facts?.valueLength ?? 0) }

    /// A copy of the key. The value is not read, and its damage is not found.
    ///
    /// - Throws: ``StoreError/damaged(_:reason:)``.
    public func key() throws(StoreError) -> [UInt8] {
      try withKey { key in unsafe key.withUnsafeBytes { unsafe [UInt8]($0) } }
    }

    /// Calls `body` with the key: in place, or a copy of a packed one. The span is valid only during the call. The value is not read,
    /// and its damage is not found.
    ///
    /// - Throws: what `body` throws; ``StoreError/damaged(_:reason:)``.
    public func withKey<R: ~Copyable>(_ body: (RawSpan) throws(StoreError) -> R) throws(StoreError) -> R {
      if segment.layout.isPacked { return try withPackedKey(body) }
      guard let facts, let record = segment.view(at: offset, end: offset + length) else { throw unreadable() }
      // The header is intact, and has the key's hash.
      guard unsafe hash.hash(record.key) == facts.keyHash else { throw damaged(.bodyChecksum) }
      return try unsafe body(record.key.bytes)
    }

    private func withPackedKey<R: ~Copyable>(_ body: (RawSpan) throws(StoreError) -> R) throws(StoreError) -> R {
      guard let (entry, view) = try packed() else { throw unreadable() }
      guard entry.headIsIntact(salt: view.salt) else { throw damaged(.headerChecksum) }
      let key = ContiguousArray(entry.key)
      return try unsafe body(key.span.bytes)
    }

    /// A copy of the value.
    ///
    /// - Throws: ``StoreError/damaged(_:reason:)``.
    public func value() throws(StoreError) -> [UInt8] {
      if let (entry, view) = try packed() { return try value(of: entry, in: view) }
      return unsafe [UInt8](try intactRecord().value)
    }

    /// Calls `body` with the key and the value: in place, or copies of packed ones. The spans are valid only during the call.
    ///
    /// - Throws: what `body` throws; ``StoreError/damaged(_:reason:)``.
    public func withBytes<R: ~Copyable>(_ body: (RawSpan, RawSpan) throws(StoreError) -> R) throws(StoreError) -> R {
      if segment.layout.isPacked { return try withPackedBytes(body) }
      let record = try intactRecord()
      return try unsafe body(record.key.bytes, record.value.bytes)
    }

    private func withPackedBytes<R: ~Copyable>(
      _ body: (RawSpan, RawSpan) throws(StoreError) -> R
    ) throws(StoreError) -> R {
      guard let (entry, view) = try packed() else { throw unreadable() }
      let value = ContiguousArray(try value(of: entry, in: view))
      let key = ContiguousArray(entry.key)
      return try unsafe body(key.span.bytes, value.span.bytes)
    }

    /// The record, if its segment is packed.
    private func packed() throws(StoreError) -> (PackedEntry, PackedSegmentView)? {
      guard let view = segment.packedView(end: segment.readableEnd) else { return nil }
      guard facts != nil, let entry = view.entry(at: offset) else { throw unreadable() }
      return (entry, view)
    }

    private func value(of entry: PackedEntry, in view: PackedSegmentView) throws(StoreError) -> [UInt8] {
      var value = [UInt8](repeating: 0, count: entry.valueLength)
      let damage = unsafe value.withUnsafeMutableBytes { unsafe view.copyValue(of: entry, into: $0, isVerified: true) }
      if let damage { throw damaged(damage) }
      return value
    }

    private func intactRecord() throws(StoreError) -> RecordView {
      guard facts != nil, let record = segment.view(at: offset, end: offset + length) else { throw unreadable() }
      if let damage = record.damage(salt: segment.salt, offsetUnits: UInt32(truncatingIfNeeded: offset >> 3)) {
        throw damaged(damage)
      }
      return record
    }

    private func damaged(_ damage: RecordDamage) -> StoreError {
      segment.damage(offset, damage.reason)
    }

    private func unreadable() -> StoreError {
      segment.damage(offset, "the header of a record is damaged; \(length) bytes cannot be read")
    }
  }
}
