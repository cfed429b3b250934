/// The functions of a storage whose type is hidden.
///
/// Closures, not overridden methods or an existential: they specialise where they are made, which was measured a third faster
/// a call.
@usableFromInline
final class StorageTable<Key: Sendable, Value: Sendable>: Sendable {
  @usableFromInline let base: any UpdatableStorage<Key, Value>
  @usableFromInline let name: String
  @usableFromInline let identity: @Sendable (Key) throws(StorageError) -> StorageRequest.Identity
  @usableFromInline let read: @Sendable (Key, StorageRequest.Read) throws(StorageError) -> Entry<Value>?
  @usableFromInline let held: @Sendable (Key, StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value>
  @usableFromInline let write:
    @Sendable (Key, StorageRequest.Write<Value>) throws(StorageError) -> StorageRequest.Receipt
  @usableFromInline let asyncRead:
    nonisolated(nonsending) @Sendable (Key, StorageRequest.Read) async throws(StorageError) -> Entry<Value>?
  @usableFromInline let asyncWrite:
    nonisolated(nonsending) @Sendable (Key, StorageRequest.Write<Value>) async throws(StorageError) ->
      StorageRequest.Receipt

  @inlinable
  init<Base: UpdatableStorage<Key, Value>>(_ base: Base) {
    self.base = base
    name = base.name
    identity = { (key) throws(StorageError) in try base.identity(of: key) }
    read = { (key, call) throws(StorageError) in try base.read(key, call) }
    held = { (key, call) throws(StorageError) in try base.held(key, call) }
    write = { (key, call) throws(StorageError) in try base.write(key, call) }
    asyncRead = { (key, call) async throws(StorageError) in try await base.asyncRead(key, call) }
    asyncWrite = { (key, call) async throws(StorageError) in try await base.asyncWrite(key, call) }
  }
}

/// What a storage can do with all its keys. Existentials: these calls take their time anyway.
@usableFromInline
final class ListingTable<Key: Sendable, Value: Sendable>: Sendable {
  let enumerable: any EnumerableStorage<Key, Value>
  let clearable: any ClearableStorage<Key, Value>
  let observable: any ObservableStorage<Key, Value>

  @usableFromInline
  init<Base: EnumerableStorage & ClearableStorage & ObservableStorage>(
    _ base: Base
  ) where Base.Key == Key, Base.Value == Value {
    enumerable = base
    clearable = base
    observable = base
  }
}
