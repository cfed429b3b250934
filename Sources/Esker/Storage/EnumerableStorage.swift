/// A storage that can tell what it has.
public protocol EnumerableStorage<Key, Value>: ReadableStorage {
  /// Calls `body` with each key and entry, in no promised order, as they were at one instant.
  ///
  /// An entry that cannot be read is given to `failure`, which may throw to end the enumeration.
  ///
  /// - Complexity: O(what is stored underneath).
  func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError)

  /// Calls `body` with each key, in no promised order, as they were at one instant. Values are not decoded.
  func forEachKey(_ body: (Key) throws(StorageError) -> Void) throws(StorageError)

  /// How many entries there are. Expired ones that were not removed yet may be counted.
  func count() throws(StorageError) -> Int
}

extension EnumerableStorage {
  /// Calls `body` with each key and entry; throws at the first entry that cannot be read.
  @inlinable
  public func forEachEntry(_ body: (Key, Entry<Value>) throws(StorageError) -> Void) throws(StorageError) {
    try forEachEntry(onFailure: { (error) throws(StorageError) in throw error }, body)
  }

  /// All keys with their entries, as they were at one instant, in no promised order.
  public func entries() throws(StorageError) -> [(key: Key, entry: Entry<Value>)] {
    var all: [(key: Key, entry: Entry<Value>)] = []
    try forEachEntry { (key, entry) throws(StorageError) in all.append((key, entry)) }
    return all
  }

  /// All keys, as they were at one instant, in no promised order.
  public func keys() throws(StorageError) -> [Key] {
    var all: [Key] = []
    try forEachKey { (key) throws(StorageError) in all.append(key) }
    return all
  }

  /// All values, as they were at one instant, in no promised order.
  public func values() throws(StorageError) -> [Value] {
    var all: [Value] = []
    try forEachEntry { (_, entry) throws(StorageError) in all.append(entry.value) }
    return all
  }
}
