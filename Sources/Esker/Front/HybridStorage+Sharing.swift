extension HybridStorage: SharedStorage {
  package func productionLock(of key: Key) throws(StorageError) -> (any ProductionLock)? {
    try Esker.productionLock(of: core.back, key)
  }
}
