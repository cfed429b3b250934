public import EskerMemory

/// A storage with memory, by itself or in front of another, also behind an erased storage or operators.
protocol MemoryBacked<Key>: StorageProtocol {
  /// What memory holds and what it did; nil if there is none after all.
  var memoryStatistics: MemoryStatistics? { get }
  /// Drops a key from memory that is in front of something.
  func removeInMemory(forKey key: Key)
  /// Drops everything from memory that is in front of something.
  func removeAllInMemory()
  /// Evicts values until they cost at most `cost`.
  func trim(toCost cost: Int)
  /// Evicts values until there are at most `count`.
  func trim(toCount count: Int)
}

extension MemoryStorage: MemoryBacked {
  var memoryStatistics: MemoryStatistics? { statistics }

  /// Nothing: memory is all there is.
  func removeInMemory(forKey key: Key) {}

  /// Nothing: memory is all there is.
  func removeAllInMemory() {}
}

extension Storage: MemoryBacked {
  private var memory: (any MemoryBacked<Key>)? { table.base as? any MemoryBacked<Key> }

  var memoryStatistics: MemoryStatistics? { memory?.memoryStatistics }

  /// What the memory of the storage behind holds and what it did, as of ``HybridStorage/statistics`` and ``MemoryStorage/statistics``; nil
  /// if it has none, such as a view of a log that was made without `memory:`.
  public var statistics: MemoryStatistics? { memoryStatistics }

  /// Drops `key` from memory in front of another storage, where the value stays; see ``HybridStorage/removeInMemory(forKey:)``. Nothing
  /// happens where there is none.
  public func removeInMemory(forKey key: Key) { memory?.removeInMemory(forKey: key) }

  /// Drops everything from memory in front of another storage, where the values stay. Nothing happens where there is none.
  public func removeAllInMemory() { memory?.removeAllInMemory() }

  /// Evicts values from memory until they cost at most `cost`: for when the system is short of memory. Of a ``MemoryStorage`` they are
  /// gone then. Nothing happens where there is no memory.
  public func trim(toCost cost: Int) { memory?.trim(toCost: cost) }

  /// Evicts values from memory until there are at most `count`. Of a ``MemoryStorage`` they are gone then. Nothing happens where there
  /// is no memory.
  public func trim(toCount count: Int) { memory?.trim(toCount: count) }
}
