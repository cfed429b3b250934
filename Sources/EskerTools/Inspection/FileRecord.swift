internal import EskerFormat

/// A record of a segment file, packed or not, of which only the length is known to be possible. The file stays open.
///
/// Safety: points into the mapping of a ``SegmentFile``, which whoever uses the record holds. The key lies within the
/// length.
@safe
enum FileRecord {
  case plain(RecordView, salt: UInt32, offsetUnits: UInt32)
  case packed(PackedEntry, PackedSegmentView)

  /// Bytes that the record takes.
  var size: Int {
    switch self {
    case .plain(let record, _, _): record.size
    case .packed(let entry, _): entry.size
    }
  }

  /// The key, copied.
  var key: [UInt8] {
    switch self {
    case .plain(let record, _, _): unsafe [UInt8](record.key)
    case .packed(let entry, _): entry.key
    }
  }

  func hasSameKey(as other: FileRecord) -> Bool {
    if case .plain(let record, _, _) = self, case .plain(let other, _, _) = other {
      return unsafe record.key.elementsEqual(other.key)
    }
    return key == other.key
  }

  /// What is wrong with the record, if anything is.
  var damage: RecordDamage? {
    switch self {
    case .plain(let record, let salt, let offsetUnits): record.damage(salt: salt, offsetUnits: offsetUnits)
    case .packed(let entry, let view): view.damage(of: entry)
    }
  }
}
