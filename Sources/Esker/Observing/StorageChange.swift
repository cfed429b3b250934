/// What happened to a storage.
public enum StorageChange<Key: Sendable, Value: Sendable>: Sendable {
  /// A value was stored; `before` is what it replaced.
  case set(key: Key, before: Value?, after: Value)
  /// A value was removed.
  case removed(key: Key, before: Value)
  /// Everything was removed.
  case removedAll
  /// Values whose time was over were removed; how many.
  case removedExpired(count: Int)
  /// This many changes came faster than they were taken, and cannot be told.
  case missed(Int)
  /// A change of a key or value that the view cannot read.
  case unreadable(StorageError)

  /// The same change with other keys and values; one that cannot be turned becomes `.unreadable`.
  @inlinable
  func map<NewKey, NewValue>(
    key turnedKey: (Key) throws(StorageError) -> NewKey,
    value turnedValue: (Value, Key) throws(StorageError) -> NewValue
  ) -> StorageChange<NewKey, NewValue> {
    do throws(StorageError) {
      switch self {
      case .set(let key, let before, let after):
        let newKey = try turnedKey(key)
        var newBefore: NewValue?
        if let before { newBefore = try turnedValue(before, key) }
        return .set(key: newKey, before: newBefore, after: try turnedValue(after, key))
      case .removed(let key, let before):
        let newKey = try turnedKey(key)
        return .removed(key: newKey, before: try turnedValue(before, key))
      case .removedAll: return .removedAll
      case .removedExpired(let count): return .removedExpired(count: count)
      case .missed(let count): return .missed(count)
      case .unreadable(let error): return .unreadable(error)
      }
    } catch {
      return .unreadable(error)
    }
  }
}

extension StorageChange: Equatable where Key: Equatable, Value: Equatable {
  /// Whether the same happened. Unreadable changes are never equal.
  public static func == (left: StorageChange, right: StorageChange) -> Bool {
    switch (left, right) {
    case (.set(let key, let before, let after), .set(let otherKey, let otherBefore, let otherAfter)):
      key == otherKey && before == otherBefore && after == otherAfter
    case (.removed(let key, let before), .removed(let otherKey, let otherBefore)):
      key == otherKey && before == otherBefore
    case (.removedAll, .removedAll): true
    case (.removedExpired(let count), .removedExpired(let otherCount)): count == otherCount
    case (.missed(let count), .missed(let otherCount)): count == otherCount
    default: false
    }
  }
}
