/// A key made of several, ordered by the first, then the second, and so on.
///
/// ```swift
/// let visits = try store.storage("visits", key: CompositeKey<String, Int>.self, of: Visit.self)
/// try visits.set(visit, forKey: CompositeKey("vienna", 2026))
/// ```
///
/// As bytes, each part but the last has its zero bytes written `00 FF` and ends with `00 01`: different keys have different bytes,
/// and bytes compare as the parts do.
public struct CompositeKey<each Part: StorageKey>: StorageKey {
  /// The parts.
  public let parts: (repeat each Part)

  /// A key of these parts.
  public init(_ parts: repeat each Part) {
    self.parts = (repeat each parts)
  }

  /// Whether all parts are equal.
  public static func == (left: CompositeKey, right: CompositeKey) -> Bool {
    for (one, other) in repeat (each left.parts, each right.parts) {
      guard one == other else { return false }
    }
    return true
  }

  /// Feeds every part.
  public func hash(into hasher: inout Hasher) {
    for part in repeat each parts { hasher.combine(part) }
  }

  /// The parts one after the other.
  public static var keyTransformer: KeyTransformer<CompositeKey> {
    var ids: [String] = []
    for type in repeat (each Part).self {
      let id = type.keyTransformer.id
      // A part made of parts has other bytes than its parts one by one.
      ids.append(id.contains(",") ? "(\(id))" : id)
    }
    let count = ids.count
    return KeyTransformer(
      id: ids.joined(separator: ","),
      encode: { key in
        var bytes: [UInt8] = []
        var position = 0
        for part in repeat each key.parts {
          position += 1
          try Self.append(part, isLast: position == count, to: &bytes)
        }
        return bytes
      },
      decode: { bytes in
        var reader = PartReader(bytes: bytes.copied(), count: count)
        return CompositeKey(repeat try reader.next((each Part).self))
      }
    )
  }

  /// What the bytes of all keys begin with that have these first parts; they have more.
  static func prefix<each First: StorageKey>(_ parts: repeat each First) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for part in repeat each parts { try append(part, isLast: false, to: &bytes) }
    return bytes
  }

  private static func append<One: StorageKey>(_ part: One, isLast: Bool, to bytes: inout [UInt8]) throws {
    try One.keyTransformer.lending(part) { span in
      if isLast { return bytes.append(span) }
      span.forEachByte { byte in
        bytes.append(byte)
        if byte == 0 { bytes.append(0xFF) }
      }
      bytes.append(contentsOf: [0, 1])
    }
  }
}

/// Takes the parts of a composite key out of its bytes.
private struct PartReader {
  let bytes: [UInt8]
  let count: Int
  var position = 0
  var done = 0

  mutating func next<Part: StorageKey>(_ type: Part.Type) throws -> Part {
    done += 1
    if done == count { return try type.keyTransformer.decode(Array(bytes[position...])) }
    var part: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      guard byte == 0 else {
        part.append(byte)
        continue
      }
      guard position < bytes.count else { break }
      let mark = bytes[position]
      position += 1
      switch mark {
      case 0xFF: part.append(0)
      case 0x01: return try type.keyTransformer.decode(part)
      default: throw TransformerError.malformed("a zero byte of a composite key is followed by \(mark)")
      }
    }
    throw TransformerError.malformed("a composite key of \(count) parts ends in part \(done)")
  }
}
