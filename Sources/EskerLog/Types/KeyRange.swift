/// Some of a keyspace's keys, by their order.
///
/// Keys are compared byte by byte, as `memcmp` does; a key comes before those that it begins. So strings are in the order of their UTF-8,
/// and integers have the order of the numbers if their bytes begin with the most significant one.
///
/// ```swift
/// let newest = try posts.entries(in: .prefix("user/7/"), order: .descending, limit: 50)
/// let next = try posts.entries(in: .prefix("user/7/").upTo(newest.last?.key ?? []), order: .descending, limit: 50)
/// ```
///
/// Each of the functions narrows a range further; called on the type, they begin with all keys.
public struct KeyRange: Sendable, Hashable {
  /// Which keys come first.
  @frozen
  public enum Direction: Sendable, Hashable, CaseIterable {
    /// The least key first.
    case ascending
    /// The greatest key first.
    case descending
  }

  /// One end of a range.
  struct End: Sendable, Hashable {
    var key: [UInt8]
    /// Whether the key itself is in the range.
    var isIncluded: Bool
  }

  /// nil if there is no least key.
  private(set) var lower: End?
  /// nil if there is no greatest key.
  private(set) var upper: End?

  /// All keys.
  public static let all = KeyRange()

  /// The keys that are not less than `key`.
  public static func from(_ key: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange { all.from(key) }

  /// The keys that are greater than `key`.
  public static func after(_ key: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange { all.after(key) }

  /// The keys that are less than `key`.
  public static func upTo(_ key: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange { all.upTo(key) }

  /// The keys that are not greater than `key`.
  public static func through(_ key: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange { all.through(key) }

  /// The keys that begin with `prefix`, itself included.
  public static func prefix(_ prefix: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange {
    all.prefix(prefix)
  }

  /// Of these keys, those that are not less than `key`.
  public func from(_ key: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange {
    with(lower: End(key, isIncluded: true))
  }

  /// Of these keys, those that are greater than `key`.
  public func after(_ key: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange {
    with(lower: End(key, isIncluded: false))
  }

  /// Of these keys, those that are less than `key`.
  public func upTo(_ key: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange {
    with(upper: End(key, isIncluded: false))
  }

  /// Of these keys, those that are not greater than `key`.
  public func through(_ key: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange {
    with(upper: End(key, isIncluded: true))
  }

  /// Of these keys, those that begin with `prefix`, itself included.
  public func prefix(_ prefix: borrowing some ByteSource & ~Copyable & ~Escapable) -> KeyRange {
    let first = End(prefix, isIncluded: true)
    // The least key that is greater than all of them: there is none if every byte is the greatest there is.
    var next = first.key
    while next.last == .max { next.removeLast() }
    guard let last = next.popLast() else { return with(lower: first) }
    next.append(last + 1)
    return with(lower: first).with(upper: End(key: next, isIncluded: false))
  }

  /// Whether a key is in the range.
  public func contains(_ key: borrowing some ByteSource & ~Copyable & ~Escapable) -> Bool {
    let key = End(key, isIncluded: true).key
    if let lower, key.lexicographicallyPrecedes(lower.key) || key == lower.key && !lower.isIncluded { return false }
    if let upper, upper.key.lexicographicallyPrecedes(key) || key == upper.key && !upper.isIncluded { return false }
    return true
  }

  /// The least key that may be in the range.
  var least: [UInt8] {
    guard let lower else { return [] }
    return lower.isIncluded ? lower.key : lower.key + [0]
  }

  private func with(lower end: End) -> KeyRange {
    if let lower, end.key.lexicographicallyPrecedes(lower.key) || end.key == lower.key && !lower.isIncluded {
      return self
    }
    var range = self
    range.lower = end
    return range
  }

  private func with(upper end: End) -> KeyRange {
    if let upper, upper.key.lexicographicallyPrecedes(end.key) || end.key == upper.key && !upper.isIncluded {
      return self
    }
    var range = self
    range.upper = end
    return range
  }
}

extension KeyRange.End {
  fileprivate init(_ key: borrowing some ByteSource & ~Copyable & ~Escapable, isIncluded: Bool) {
    self.init(key: key.copiedBytes, isIncluded: isIncluded)
  }
}
