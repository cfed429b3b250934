import Esker
import EskerPlatform

/// Another storage, that can be told to refuse what is set.
final class RefusingStorage<Base: UpdatableStorage>: UpdatableStorage {
  typealias Key = Base.Key
  typealias Value = Base.Value
  struct Refusal: Error {}

  let base: Base
  let identity = StorageIdentity()
  private let state = Guarded((refuses: false, refused: 0))

  init(_ base: Base) {
    self.base = base
  }

  var name: String { base.name }

  func refuse(_ refuses: Bool = true) { state.withLock { $0.refuses = refuses } }

  /// How often it has refused.
  var refused: Int { state.withLock { $0.refused } }

  func entry(forKey key: Key) throws(StorageError) -> Entry<Value>? { try base.entry(forKey: key) }

  func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) {
    let refuses = state.withLock { state in
      if state.refuses { state.refused += 1 }
      return state.refuses
    }
    if refuses { throw .back(name: name, underlying: Refusal()) }
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
}
