/// The operations of a storage whose type is hidden.
///
/// Closures, not overridden methods or an existential: they specialise where they are made, which was measured a third faster
/// a call.
@usableFromInline
final class StorageTable<Key: Sendable, Value: Sendable>: Sendable {
  @usableFromInline let base: any StorageDesign
  @usableFromInline let name: String
  @usableFromInline let identity: StorageIdentity
  @usableFromInline let mayBlock: Bool
  @usableFromInline let entry: @Sendable (Key) throws(StorageError) -> Entry<Value>?
  @usableFromInline let value: @Sendable (Key) throws(StorageError) -> Value?
  @usableFromInline let contains: @Sendable (Key) throws(StorageError) -> Bool
  @usableFromInline let resident: @Sendable (Key) throws(StorageError) -> Resident<Value>
  @usableFromInline let set: @Sendable (Value, Key, Expiry?) throws(StorageError) -> Void
  @usableFromInline let remove: @Sendable (Key) throws(StorageError) -> Bool
  @usableFromInline let update:
    @Sendable (Key, Expiry?, (inout Value?) throws(StorageError) -> Void) throws(StorageError) -> Void

  @inlinable
  init<Base: UpdatableStorage<Key, Value>>(_ base: Base) {
    self.base = base
    name = base.name
    identity = base.identity
    mayBlock = base.mayBlock
    entry = { (key) throws(StorageError) in try base.entry(forKey: key) }
    value = { (key) throws(StorageError) in try base.value(forKey: key) }
    contains = { (key) throws(StorageError) in try base.contains(key) }
    resident = { (key) throws(StorageError) in try base.residentEntry(forKey: key) }
    set = { (value, key, expiry) throws(StorageError) in try base.set(value, forKey: key, expiry: expiry) }
    remove = { (key) throws(StorageError) in try base.removeValue(forKey: key) }
    update = { (key, expiry, body) throws(StorageError) in try base.update(forKey: key, expiry: expiry, body) }
  }
}
