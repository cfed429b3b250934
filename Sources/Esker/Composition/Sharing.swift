// Values are produced for all processes where they are kept: what is shared behind a composition is shared through it.

extension Composed: SharedStorage {
  package func productionLock(of key: Key) throws(StorageError) -> (any ProductionLock)? {
    do throws(StorageError) { return try Esker.productionLock(of: base, try step.inner(key)) } catch {
      throw step.translated(error)
    }
  }
}

extension Combined: SharedStorage {
  package func productionLock(of key: Key) throws(StorageError) -> (any ProductionLock)? {
    policy.isLedByFront ? try Esker.productionLock(of: front, key) : try Esker.productionLock(of: back, key)
  }
}

extension Fallback: SharedStorage {
  package func productionLock(of key: Key) throws(StorageError) -> (any ProductionLock)? {
    try Esker.productionLock(of: first, key)
  }
}
