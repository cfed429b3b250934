import Esker
import Foundation

/// Calls a hook once, at a chosen moment within a call: what another thread might do just then.
final class HookedStorage<Key: StorageKey, Value: Sendable>: UpdatableStorage, @unchecked Sendable {
  let base: DictionaryStorage<Key, Value>
  var name: String { base.name }
  private let lock = NSLock()
  private var afterRead: (() -> Void)?
  private var beforeSet: (() -> Void)?
  private var afterSet: (() -> Void)?

  init(_ base: DictionaryStorage<Key, Value>) {
    self.base = base
  }

  func onceAfterRead(_ hook: @escaping () -> Void) { lock.withLock { afterRead = hook } }

  func onceBeforeSet(_ hook: @escaping () -> Void) { lock.withLock { beforeSet = hook } }

  func onceAfterSet(_ hook: @escaping () -> Void) { lock.withLock { afterSet = hook } }

  func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity { try base.identity(of: key) }

  func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    let found = try base.read(key, call)
    lock.withLock { take(&afterRead) }?()
    return found
  }

  /// The keys of each read of several, in order.
  private(set) var asked: [[Key]] = []

  func read(several keys: [Key], _ call: StorageRequest.Read) throws(StorageError) -> [Entry<Value>?] {
    lock.withLock { asked.append(keys) }
    let found = try base.read(several: keys, call)
    lock.withLock { take(&afterRead) }?()
    return found
  }

  func write(_ key: Key, _ call: StorageRequest.Write<Value>) throws(StorageError) -> StorageRequest.Receipt {
    guard case .set = call.action else { return try base.write(key, call) }
    lock.withLock { take(&beforeSet) }?()
    let receipt = try base.write(key, call)
    lock.withLock { take(&afterSet) }?()
    return receipt
  }

  private func take(_ hook: inout (() -> Void)?) -> (() -> Void)? {
    defer { hook = nil }
    return hook
  }
}

extension HookedStorage: ClearableStorage {
  func removeAll(durability: Durability?) throws(StorageError) { try base.removeAll() }

  func removeExpired() throws(StorageError) -> Int { try base.removeExpired() }
}
