/// What happened to a storage.
///
/// A key that is told to be removed, expired or evicted is absent from then on, until it is set again. So whoever starts from
/// what the storage holds and carries out each change has what it holds; after `.missed` he starts anew.
public enum StorageChange<Key: Sendable, Value: Sendable>: Sendable {
  /// A value was stored; `before` is what it replaced. A new expiry for a value is a store of the same value.
  case set(key: Key, before: Value?, after: Value)
  /// A value was removed.
  case removed(key: Key, before: Value)
  /// Everything was removed.
  case removedAll
  /// A value whose time was over was taken out: not at the instant at which it became absent, but when it was found.
  case expired(key: Key, before: Value)
  /// A value had to make room.
  case evicted(key: Key, before: Value)
  /// This many changes came faster than they were taken, and cannot be told.
  case missed(Int)
  /// A change of a value that the view cannot read, or of a key: that is nil then. What is there now, a look will tell.
  case unreadable(key: Key?, StorageError)
  /// The store was closed, or the keyspace removed: nothing changes any more, and nothing more is told.
  case closed

  /// The same change with other keys and values; one that cannot be turned becomes `.unreadable`.
  @inlinable
  func map<NewKey, NewValue>(
    key turnedKey: (Key) throws(StorageError) -> NewKey,
    value turnedValue: (Value, Key) throws(StorageError) -> NewValue
  ) -> StorageChange<NewKey, NewValue> {
    var known: NewKey?
    do throws(StorageError) {
      switch self {
      case .set(let key, let before, let after):
        let newKey = try turnedKey(key)
        known = newKey
        var newBefore: NewValue?
        if let before { newBefore = try turnedValue(before, key) }
        return .set(key: newKey, before: newBefore, after: try turnedValue(after, key))
      case .removed(let key, let before):
        let newKey = try turnedKey(key)
        known = newKey
        return .removed(key: newKey, before: try turnedValue(before, key))
      case .expired(let key, let before):
        let newKey = try turnedKey(key)
        known = newKey
        return .expired(key: newKey, before: try turnedValue(before, key))
      case .evicted(let key, let before):
        let newKey = try turnedKey(key)
        known = newKey
        return .evicted(key: newKey, before: try turnedValue(before, key))
      case .removedAll: return .removedAll
      case .missed(let count): return .missed(count)
      case .closed: return .closed
      case .unreadable(let key, let error):
        if let key { known = try? turnedKey(key) }
        return .unreadable(key: known, error)
      }
    } catch {
      return .unreadable(key: known, error)
    }
  }
}

extension StorageChange: Equatable where Key: Equatable, Value: Equatable {
  /// Whether the same happened. Unreadable changes are never equal.
  public static func == (left: StorageChange, right: StorageChange) -> Bool {
    switch (left, right) {
    case (.set(let key, let before, let after), .set(let otherKey, let otherBefore, let otherAfter)):
      key == otherKey && before == otherBefore && after == otherAfter
    case (.removed(let key, let before), .removed(let otherKey, let otherBefore)),
      (.expired(let key, let before), .expired(let otherKey, let otherBefore)),
      (.evicted(let key, let before), .evicted(let otherKey, let otherBefore)):
      key == otherKey && before == otherBefore
    case (.removedAll, .removedAll), (.closed, .closed): true
    case (.missed(let count), .missed(let otherCount)): count == otherCount
    default: false
    }
  }
}
