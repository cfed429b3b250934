internal import CEskerShims
internal import EskerFormat

/// Recovers the salt of a segment whose header is lost from one of its records.
///
/// A record's header checksum is linear in the salt: flipping bits of the salt flips the same bits of the checksum,
/// whatever the rest of the header is. So the one salt that gives the stored checksum follows from 33 checksums and a
/// system of linear equations. It is accepted if the record's body matches its own checksum, which does not depend on the
/// salt.
enum SaltSearch {
  /// How many bytes to search for an intact record.
  private static let reach = 1 << 20

  /// - Parameter length: The number of bytes that may be read from `base` on, which is aligned to eight bytes.
  ///
  /// Safety: the caller keeps the bytes during the call. A word is read where at least 32 bytes are left, and a record
  /// only once its view has checked that all of it lies within `length`.
  static func salt(at base: UnsafeRawPointer, length: Int) -> UInt32? {
    var offset = SegmentHeader.length
    while offset + 32 <= min(length, reach) {
      defer { offset += 8 }
      guard unsafe base.load(fromByteOffset: offset, as: UInt64.self) != 0 else { continue }
      let units = UInt32(offset >> 3)
      guard let view = unsafe RecordView(at: base + offset, limit: length - offset),
        let salt = unsafe solve(base + offset, units, UInt32(view.flags.extensionWords)),
        view.damage(salt: salt, offsetUnits: units) == nil
      else { continue }
      return salt
    }
    return nil
  }

  /// The salt that gives the record's stored header checksum, if any.
  ///
  /// Safety: the caller has checked that the header, with as many extension words, lies within the bytes.
  private static func solve(_ record: UnsafeRawPointer, _ units: UInt32, _ words: UInt32) -> UInt32? {
    let stored = unsafe UInt32(littleEndian: record.load(as: UInt32.self))
    let zero = unsafe esker_record_header_checksum(0, units, record, words)
    // Each row: some bits of the salt, and the bits of the checksum that they flip. The lowest set bit of `effect` is its
    // pivot.
    var rows: [(effect: UInt32, bits: UInt32)] = []
    for position in 0..<32 {
      let bit = UInt32(1) << UInt32(position)
      var row = unsafe (effect: esker_record_header_checksum(bit, units, record, words) ^ zero, bits: bit)
      for other in rows where row.effect & (other.effect & ~(other.effect &- 1)) != 0 {
        row = (row.effect ^ other.effect, row.bits ^ other.bits)
      }
      if row.effect != 0 { rows.append(row) }
    }
    var rest = stored ^ zero
    var salt: UInt32 = 0
    for row in rows where rest & (row.effect & ~(row.effect &- 1)) != 0 {
      rest ^= row.effect
      salt ^= row.bits
    }
    return rest == 0 ? salt : nil
  }
}
