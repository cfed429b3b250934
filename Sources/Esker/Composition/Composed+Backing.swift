// What is behind a composed storage.

extension Composed: LogBacked where Base: LogBacked {
  var logView: LogBacking? { step.keepsKeys ? base.logView : nil }
}

extension Composed: MemoryBacked where Base: MemoryBacked {
  var memoryStatistics: MemoryStatistics? { base.memoryStatistics }

  func removeInMemory(forKey key: Key) {
    // A key that has no counterpart behind is not in memory.
    guard let inner = try? step.inner(key) else { return }
    base.removeInMemory(forKey: inner)
  }

  func removeAllInMemory() { base.removeAllInMemory() }

  func trim(toCost cost: Int) { base.trim(toCost: cost) }

  func trim(toCount count: Int) { base.trim(toCount: count) }
}

extension Composed: ByteBacked
where Base: ByteBacked, Step: StorageStep.Reading & StorageStep.Writing, Step.Key == Step.InnerKey {
  func viewed<New: Sendable>(as transformer: Transformer<New>) throws(StorageError) -> Storage<Key, New> {
    guard step.keepsKeys else { throw .unsupported(operation: "show its values as another type", view: name) }
    return try base.viewed(as: transformer)
  }

  func add(_ write: StorageRequest.Write<Value>, _ key: Key, to batch: inout WriteBatch) throws(StorageError) {
    try base.add(try step.inner(write, key), try step.inner(key), to: &batch)
  }

  func entry(forKey key: Key, in transaction: inout LogStore.Transaction) throws(StorageError) -> Entry<Value>? {
    try step.outer(try base.entry(forKey: try step.inner(key), in: &transaction), key)
  }
}
