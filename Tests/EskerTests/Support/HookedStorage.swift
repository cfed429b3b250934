import Esker
import Foundation

/// Calls a hook once, at a chosen moment within a call: what another thread might do just then.
final class HookedStorage<Key: Hashable & Sendable, Value: Sendable>: UpdatableStorage, @unchecked Sendable {
  let base: DictionaryStorage<Key, Value>
  let identity = StorageIdentity()
  var name: String { base.name }
  private let lock = NSLock()
  private var afterRead: (() -> Void)?
  private var beforeSet: (() -> Void)?

  init(_ base: DictionaryStorage<Key, Value>) {
    self.base = base
  }

  func onceAfterRead(_ hook: @escaping () -> Void) { lock.withLock { afterRead = hook } }

  func onceBeforeSet(_ hook: @escaping () -> Void) { lock.withLock { beforeSet = hook } }

  func entry(forKey key: Key) throws(StorageError) -> Entry<Value>? {
    let found = try base.entry(forKey: key)
    lock.withLock { take(&afterRead) }?()
    return found
  }

  func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) {
    lock.withLock { take(&beforeSet) }?()
    try base.set(value, forKey: key, expiry: expiry)
  }

  func removeValue(forKey key: Key) throws(StorageError) -> Bool { try base.removeValue(forKey: key) }

  func update<R>(
    forKey key: Key,
    expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try base.update(forKey: key, expiry: expiry, body)
  }

  private func take(_ hook: inout (() -> Void)?) -> (() -> Void)? {
    defer { hook = nil }
    return hook
  }
}

extension HookedStorage: ClearableStorage {
  func removeAll() throws(StorageError) { try base.removeAll() }

  func removeExpired() throws(StorageError) -> Int { try base.removeExpired() }
}
