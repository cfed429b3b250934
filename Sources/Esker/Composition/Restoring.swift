/// A storage whose writes go to others: what is put back after a failed write is what was there, not what the composition shows.
///
/// A default, a second storage or the other tier may show a value where none is, a part may be there without the others, and what a
/// map cannot read is still something.
protocol Restorable<Key>: StorageProtocol {
  /// Puts back what is now under `key` wherever a write goes; nil if that cannot be read.
  func behindRestorer(_ key: Key) throws(StorageError) -> Restorer?
}

typealias Restorer = () throws(StorageError) -> Void

/// Puts back what a storage has now under `key`.
func restorer<Base: StorageProtocol>(of base: Base, _ key: Base.Key) throws(StorageError) -> Restorer? {
  if let restorable = base as? any Restorable<Base.Key> { return try restorable.behindRestorer(key) }
  return try plainRestorer(of: base, key)
}

/// Puts back what a storage shows now under `key`.
func plainRestorer<Base: StorageProtocol>(of base: Base, _ key: Base.Key) throws(StorageError) -> Restorer? {
  guard let reading = base as? any ReadableStorage<Base.Key, Base.Value>,
    let writing = base as? any WritableStorage<Base.Key, Base.Value>
  else { return nil }
  guard let before = try reading.read(key, StorageRequest.Read(needsVersion: true)), before.isKeepable else {
    return { () throws(StorageError) in try put(StorageRequest.Write(.remove), key, to: writing) }
  }
  let write = StorageRequest.Write(.set(before.value), expiry: before.expiry)
  return { () throws(StorageError) in try put(write, key, to: writing) }
}

/// Removes `key`.
func remover<Base: StorageProtocol>(of base: Base, _ key: Base.Key) -> Restorer? {
  guard let writing = base as? any WritableStorage<Base.Key, Base.Value> else { return nil }
  return { () throws(StorageError) in try put(StorageRequest.Write(.remove), key, to: writing) }
}

private func put<Base: WritableStorage>(
  _ call: StorageRequest.Write<Base.Value>,
  _ key: Base.Key,
  to base: Base
) throws(StorageError) {
  _ = try base.write(key, call)
}

/// Both, also when the first one fails; then its error is thrown.
func restoring(_ one: Restorer?, _ other: Restorer?) -> Restorer? {
  guard let one, let other else { return one ?? other }
  return { () throws(StorageError) in
    var failure: StorageError?
    do throws(StorageError) { try one() } catch { failure = error }
    try other()
    if let failure { throw failure }
  }
}

// MARK: Compositions

extension Composed: Restorable {
  func behindRestorer(_ key: Key) throws(StorageError) -> Restorer? { try restorer(of: base, try step.inner(key)) }
}

extension Zip: Restorable {
  func behindRestorer(_ key: Key) throws(StorageError) -> Restorer? {
    restoring(try restorer(of: first, key), try restorer(of: second, key))
  }
}

extension Fallback: Restorable {
  func behindRestorer(_ key: Key) throws(StorageError) -> Restorer? { try restorer(of: first, key) }
}

extension Storage: Restorable {
  func behindRestorer(_ key: Key) throws(StorageError) -> Restorer? { try restorer(of: table.base, key) }
}

extension PartialStorage: Restorable {
  func behindRestorer(_ key: Key) throws(StorageError) -> Restorer? { try restorer(of: table.base, key) }
}
