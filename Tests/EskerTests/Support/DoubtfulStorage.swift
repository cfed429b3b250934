import Esker

/// Does what it is asked, and fails all the same: a server whose answer is lost.
struct DoubtfulStorage: UpdatableStorage, ClearableStorage {
  typealias Key = String
  typealias Value = Int
  struct Lost: Error {}

  let base: DictionaryStorage<String, Int>
  var name: String { base.name }

  init(_ base: DictionaryStorage<String, Int>) {
    self.base = base
  }

  private var lost: StorageError { .back(name: name, underlying: Lost()) }

  func identity(of key: String) throws(StorageError) -> StorageRequest.Identity { try base.identity(of: key) }

  func read(_ key: String, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Int>? { try base.read(key, call) }

  func write(_ key: String, _ call: StorageRequest.Write<Int>) throws(StorageError) -> StorageRequest.Receipt {
    let receipt = try base.write(key, call)
    if case .set = call.action { throw lost }
    return receipt
  }

  func removeAll(durability: Durability?) throws(StorageError) {
    try base.removeAll()
    throw lost
  }

  func removeExpired() throws(StorageError) -> Int { throw lost }
}
