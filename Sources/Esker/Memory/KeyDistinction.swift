internal import Foundation

/// Whether keys that Swift calls equal may be two keys of the storage behind.
///
/// Strings may be equal and have other bytes, such as é in one scalar or in two: these are two keys of a log, and one key of a
/// dictionary. Of keys that are equal, memory holds one at a time.
@usableFromInline
enum KeyDistinction<Key: Sendable>: Sendable {
  /// Equal keys are one key.
  case none
  /// Keys are strings: two of them that are equal and have other bytes may be two keys behind.
  case text
  /// Keys are one for each sequence of bytes that they become.
  case bytes(KeyTransformer<Key>)

  /// How a log tells apart the keys that `keys` turns into bytes; without them, how a storage of unknown kind may.
  init(of keys: KeyTransformer<Key>?) {
    switch Key.self {
    case is String.Type: self = .text
    case is any FixedWidthInteger.Type, is [UInt8].Type, is UUID.Type, is Data.Type: self = .none
    default: self = keys.map { .bytes($0) } ?? .none
    }
  }
}

/// Whether two keys are not strings of other bytes.
@inlinable @inline(__always)
func haveSameText<Key>(_ left: Key, _ right: Key) -> Bool {
  guard Key.self == String.self, let left = left as? String, let right = right as? String else { return true }
  return haveSameBytes(left, right)
}

@inlinable @inline(__always)
func haveSameBytes(_ left: String, _ right: String) -> Bool {
  // Takes no time for short strings and for those that share their storage. The standard library compiles this into its
  // clients, so it fits whatever layout strings have; from Swift 6.4 on its name is `isTriviallyIdentical(to:)` (SE-0494).
  if left._isIdentical(to: right) { return true }
  return left.withBytes { left in right.withBytes { right in left.hasSameBytes(as: right) } }
}

extension KeyTransformer {
  /// Whether two keys become the same bytes; false of one that cannot become bytes.
  func haveSameBytes(_ left: Key, _ right: Key) -> Bool {
    var areSame = false
    try? lending(left) { left in
      try? lending(right) { right in areSame = left.hasSameBytes(as: right) }
    }
    return areSame
  }
}
