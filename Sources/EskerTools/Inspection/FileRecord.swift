internal import EskerFormat

/// A record in a segment file, packed or not. Only its length has been checked.
///
/// Safety: points into the mapping of a ``SegmentFile``, which the user of the record holds. The key lies within the
/// length.
@safe
enum FileRecord {
  case plain(RecordView, salt: UInt32, offsetUnits: UInt32)
  case packed(PackedEntry, PackedSegmentView)

  /// The bytes that the record takes.
  var size: Int {
    switch self {
    case .plain(let record, _, _): record.size
    case .packed(let entry, _): entry.size
    }
  }

  /// A copy of the key.
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

  /// The damage to the record, if any.
  var damage: RecordDamage? {
    switch self {
    case .plain(let record, let salt, let offsetUnits): record.damage(salt: salt, offsetUnits: offsetUnits)
    case .packed(let entry, let view): view.damage(of: entry)
    }
  }
}
