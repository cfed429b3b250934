/// What happened to a storage.
///
/// A key that was removed, expired or evicted is absent from then on, until it is set again. A key that became unreadable cannot
/// be read until it is set or removed. So a program that starts with the contents of the storage and applies each change has what
/// can be read of it, until `.missed`: then it must read the storage again.
///
/// `before` is nil also if the view cannot read it, such as a value of another form. What is there now is reported all the same.
public enum StorageChange<Key: Sendable, Value: Sendable>: Sendable {
  /// A value was stored; `before` is what it replaced, if there was a value. A new expiry for a value is a store of the same
  /// value.
  case set(key: Key, before: Value?, after: Value)
  /// A value was removed.
  case removed(key: Key, before: Value?)
  /// Everything was removed.
  case removedAll
  /// An expired value was taken out: not at the instant at which it became absent, but when it was found.
  case expired(key: Key, before: Value?)
  /// A value was evicted to make room.
  case evicted(key: Key, before: Value?)
  /// This many changes were dropped, because they came faster than they were taken.
  case missed(Int)
  /// A value was stored that the view cannot read, or a key changed that it cannot read: then the key is nil.
  case unreadable(key: Key?, StorageError)
  /// The store was closed, or the keyspace removed: nothing changes any more, and this is the last notification.
  case closed

  /// What one write did to a storage, for observers that take batches whole; see ``ObservableStorage/batches(buffer:)``.
  ///
  /// All that a batch or a transaction changes in the storage is one of these, and so is each other change, and `.missed` and
  /// `.closed`, by itself.
  public struct Batch: Sendable {
    /// The changes, in the order in which they took effect; never empty. Of a key that the batch writes twice, both writes.
    public let changes: [StorageChange]
    /// The number of the batch: that of its last write, in every storage that it changed. `changes(since:)` of the store goes on
    /// behind it. nil if the change was not made by a batch or a transaction.
    public let sequence: SequenceNumber?

    /// Changes that belong together.
    public init(_ changes: [StorageChange], sequence: SequenceNumber? = nil) {
      self.changes = changes
      self.sequence = sequence
    }
  }

  /// The same change with other keys and values; `.unreadable` if the key or the new value cannot be turned.
  @inlinable
  func map<NewKey, NewValue>(
    key turnedKey: (Key) throws(StorageError) -> NewKey,
    value turnedValue: (Value, Key) throws(StorageError) -> NewValue
  ) -> StorageChange<NewKey, NewValue> {
    // What was there before must not hide what is there now.
    func turned(before value: Value?, _ key: Key) -> NewValue? { value.flatMap { try? turnedValue($0, key) } }
    var known: NewKey?
    do throws(StorageError) {
      switch self {
      case .set(let key, let before, let after):
        let newKey = try turnedKey(key)
        known = newKey
        return .set(key: newKey, before: turned(before: before, key), after: try turnedValue(after, key))
      case .removed(let key, let before): return .removed(key: try turnedKey(key), before: turned(before: before, key))
      case .expired(let key, let before): return .expired(key: try turnedKey(key), before: turned(before: before, key))
      case .evicted(let key, let before): return .evicted(key: try turnedKey(key), before: turned(before: before, key))
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

extension StorageChange.Batch: Equatable where Key: Equatable, Value: Equatable {}

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
