internal import Foundation

/// A key as memory ahead of a storage holds it.
///
/// Strings that Swift calls equal may have other bytes, such as é in one scalar or in two, and are two keys of a log. So strings
/// are told apart by their bytes; for keys of other types that contain strings see ``KeyDistinction``.
@usableFromInline
struct FrontKey<Key: Hashable & Sendable>: Hashable, Sendable {
  @usableFromInline let key: Key

  @inlinable @inline(__always)
  init(_ key: Key) { self.key = key }

  @inlinable @inline(__always)
  static func == (left: FrontKey, right: FrontKey) -> Bool {
    if Key.self == String.self {
      return haveSameBytes(unsafeBitCast(left.key, to: String.self), unsafeBitCast(right.key, to: String.self))
    }
    return left.key == right.key
  }

  @inlinable
  func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }

  /// The key's own, which many types have a faster way to.
  @inlinable @inline(__always)
  var hashValue: Int { key.hashValue }
}

/// Whether equal keys may be two keys of the storage behind.
@usableFromInline
enum KeyDistinction<Key: Sendable>: Sendable {
  /// Equal keys are one key.
  case none
  /// Keys are one for each sequence of bytes that they become. Of those that are equal, memory holds one at a time.
  case bytes(KeyTransformer<Key>)

  /// How a log tells apart the keys that `keys` turns into bytes.
  init(of keys: KeyTransformer<Key>) {
    switch Key.self {
    case is any FixedWidthInteger.Type, is [UInt8].Type, is UUID.Type, is Data.Type, is String.Type: self = .none
    default: self = .bytes(keys)
    }
  }
}

@inlinable @inline(__always)
func haveSameBytes(_ left: String, _ right: String) -> Bool {
  #if _pointerBitWidth(_64)
    // Short strings and those that share their storage are the same words; what those mean does not matter here.
    if unsafeBitCast(left, to: SIMD2<UInt64>.self) == unsafeBitCast(right, to: SIMD2<UInt64>.self) { return true }
  #endif
  return left.withBytes { left in right.withBytes { right in areEqual(left, right) } }
}

@inlinable
func areEqual(_ left: RawSpan, _ right: RawSpan) -> Bool {
  guard left.byteCount == right.byteCount else { return false }
  var offset = 0
  while offset &+ 8 <= left.byteCount {
    if left.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
      != right.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
    {
      return false
    }
    offset &+= 8
  }
  while offset < left.byteCount {
    if left.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
      != right.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    {
      return false
    }
    offset &+= 1
  }
  return true
}

extension KeyTransformer {
  /// Whether two keys become the same bytes; false of one that cannot become bytes.
  func haveSameBytes(_ left: Key, _ right: Key) -> Bool {
    var areSame = false
    try? lending(left) { left in
      try? lending(right) { right in areSame = areEqual(left, right) }
    }
    return areSame
  }
}
