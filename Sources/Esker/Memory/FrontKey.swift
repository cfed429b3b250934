internal import Foundation

/// A key as the storage behind a front tells keys apart.
///
/// Strings that Swift calls equal may have other bytes, such as é in one scalar or in two, and are two keys of a log: those
/// have spellings that differ.
@usableFromInline
struct FrontKey<Key: Hashable & Sendable>: Hashable, Sendable {
  @usableFromInline let key: Key
  @usableFromInline let spelling: Int

  @inlinable @inline(__always)
  init(_ key: Key, spelling: Int) {
    self.key = key
    self.spelling = spelling
  }

  @inlinable @inline(__always)
  static func == (left: FrontKey, right: FrontKey) -> Bool {
    left.spelling == right.spelling && left.key == right.key
  }

  @inlinable
  func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }

  /// The key's own, which many types have a faster way to.
  @inlinable @inline(__always)
  var hashValue: Int { key.hashValue }
}

/// How the spelling of a key is found.
@usableFromInline
enum Spelling<Key: Sendable>: Sendable {
  /// Equal keys are one key.
  case none
  /// Keys are strings, and one for each sequence of scalars.
  case text
  /// Keys are one for each sequence of bytes that they become.
  case bytes(@Sendable (Key) -> Int)

  /// How a log tells apart the keys that `keys` turns into bytes.
  init(of keys: KeyTransformer<Key>) {
    switch Key.self {
    case is any FixedWidthInteger.Type, is [UInt8].Type, is UUID.Type, is Data.Type:
      self = .none
    case is String.Type:
      self = .text
    default:
      // A key that cannot become bytes is in no log, and refused when that is asked.
      self = .bytes { key in
        var hash = 0
        do { try keys.lending(key) { hash = spellingHash($0) } } catch { return 0 }
        return hash
      }
    }
  }
}

/// The spelling of a string: 0 if it is ASCII, which has one spelling only.
@inlinable
func spellingOfText(_ text: String) -> Int {
  text.withBytes { bytes in
    var offset = 0
    while offset &+ 8 <= bytes.byteCount {
      if bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
        return spellingHash(bytes)
      }
      offset &+= 8
    }
    while offset < bytes.byteCount {
      if bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self) & 0x80 != 0 {
        return spellingHash(bytes)
      }
      offset &+= 1
    }
    return 0
  }
}

/// Tells apart the spellings of equal keys; keys that are not equal may have the same.
@usableFromInline
func spellingHash(_ bytes: RawSpan) -> Int {
  var hasher = Hasher()
  bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  return hasher.finalize()
}
