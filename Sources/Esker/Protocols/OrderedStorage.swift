/// A storage whose entries can be read in the order of their keys.
///
/// Those of a log can, with memory ahead or not, as what they are or through operators that keep their keys: a log keeps the keys of a
/// keyspace in order once it was asked for them. `ByteStore.entries(in:order:limit:)` says what that costs, and what is seen of entries
/// that come and go meanwhile.
public protocol OrderedStorage<Key, Value>: EnumerableStorage where Key: OrderedStorageKey {
  /// Calls `body` with each key of a range and its entry, in order. No lock is held meanwhile: it may take its time.
  ///
  /// An entry that cannot be decoded is given to `failure`, which may throw to end the enumeration. A damaged record ends it: what is
  /// behind can be asked for by another range.
  ///
  /// - Parameters:
  ///   - range: Which keys.
  ///   - order: Ascending or descending.
  ///   - limit: The most entries, those that cannot be decoded among them.
  ///   - failure: What is wrong with an entry; called instead of `body`.
  ///   - body: A key and its entry.
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if what is behind has no order; ``StorageError/store(_:)``.
  /// - Complexity: O(log n) for the first entry, O(1) for each further one.
  func forEachEntry(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError)

  /// Calls `body` with each key of a range, as `forEachEntry` does. Values are not decoded.
  func forEachKey(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError)
}

extension OrderedStorage {
  /// The entries of a range in the order of their keys; throws at the first that cannot be read.
  public func entries(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max
  ) throws(StorageError) -> [(key: Key, entry: Entry<Value>)] {
    var found: [(key: Key, entry: Entry<Value>)] = []
    try forEachEntry(in: range, order: order, limit: limit) { (error) throws(StorageError) in
      throw error
    } _: { (key, entry) throws(StorageError) in
      found.append((key, entry))
    }
    return found
  }

  /// The keys of a range in order; throws at the first that cannot be read.
  public func keys(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max
  ) throws(StorageError) -> [Key] {
    var found: [Key] = []
    try forEachKey(in: range, order: order, limit: limit) { (error) throws(StorageError) in
      throw error
    } _: { (key) throws(StorageError) in
      found.append(key)
    }
    return found
  }

  /// The entry with the least key of a range; nil if there is none.
  public func first(in range: StorageRequest.Range<Key> = .all) throws(StorageError) -> (key: Key, entry: Entry<Value>)?
  {
    try entries(in: range, limit: 1).first
  }

  /// The entry with the greatest key of a range; nil if there is none.
  public func last(in range: StorageRequest.Range<Key> = .all) throws(StorageError) -> (key: Key, entry: Entry<Value>)?
  {
    try entries(in: range, order: .descending, limit: 1).first
  }

  /// The number of entries in a range, which are looked up one by one.
  public func count(in range: StorageRequest.Range<Key>) throws(StorageError) -> Int {
    var count = 0
    try forEachKey(in: range, order: .ascending, limit: .max) { _ in
      count += 1
    } _: { (_) throws(StorageError) in
      count += 1
    }
    return count
  }
}

extension OrderedStorage where Self: WritableStorage {
  /// Removes the entries of a range one by one, each with that durability; returns how many there were.
  ///
  /// - Complexity: O(entries of the range).
  @discardableResult
  public func removeAll(
    in range: StorageRequest.Range<Key>,
    durability: Durability? = nil
  ) throws(StorageError) -> Int {
    var removed = 0
    for key in try keys(in: range) where try removeValue(forKey: key, durability: durability) { removed += 1 }
    return removed
  }
}
