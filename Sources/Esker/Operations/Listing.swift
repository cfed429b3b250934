extension EnumerableStorage {
  /// Calls `body` with each key and entry; throws at the first entry that cannot be read.
  @inlinable
  public func forEachEntry(_ body: (Key, Entry<Value>) throws(StorageError) -> Void) throws(StorageError) {
    try forEachEntry(onFailure: { (error) throws(StorageError) in throw error }, body)
  }

  /// Calls `body` with each key; throws at the first that cannot be read.
  @inlinable
  public func forEachKey(_ body: (Key) throws(StorageError) -> Void) throws(StorageError) {
    try forEachKey(onFailure: { (error) throws(StorageError) in throw error }, body)
  }

  /// Calls `body`, which may throw any error, with each key and entry; throws at the first entry that cannot be read.
  public func forEachEntry(_ body: (Key, Entry<Value>) throws -> Void) throws {
    var failure: (any Error)?
    do throws(StorageError) {
      try forEachEntry { (key: Key, entry: Entry<Value>) throws(StorageError) in
        try noting(&failure) { try body(key, entry) }
      }
    } catch {
      throw failure ?? error
    }
  }

  /// All keys with their entries, in no particular order; see ``forEachEntry(onFailure:_:)``.
  ///
  /// - Parameter skippingUnreadable: whether entries that cannot be read, such as those of another form, are left out; otherwise
  ///   the first of them throws.
  public func entries(skippingUnreadable: Bool = false) throws(StorageError) -> [(key: Key, entry: Entry<Value>)] {
    var all: [(key: Key, entry: Entry<Value>)] = []
    try forEachEntry { (error) throws(StorageError) in
      if !skippingUnreadable { throw error }
    } _: { (key, entry) throws(StorageError) in
      all.append((key, entry))
    }
    return all
  }

  /// All keys, in no particular order; see ``forEachKey(onFailure:_:)``.
  ///
  /// - Parameter skippingUnreadable: whether keys that cannot be read, such as a case of an enum that is gone, are left out;
  ///   otherwise the first of them throws.
  public func keys(skippingUnreadable: Bool = false) throws(StorageError) -> [Key] {
    var all: [Key] = []
    try forEachKey { (error) throws(StorageError) in
      if !skippingUnreadable { throw error }
    } _: { (key) throws(StorageError) in
      all.append(key)
    }
    return all
  }

  /// All values, in no particular order; see ``forEachEntry(onFailure:_:)``.
  public func values(skippingUnreadable: Bool = false) throws(StorageError) -> [Value] {
    try entries(skippingUnreadable: skippingUnreadable).map { $0.entry.value }
  }
}
