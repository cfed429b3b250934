import Esker
import EskerCrypto
import EskerTestSupport
import Testing

/// Calls `body` with a new store, and removes it afterwards.
func withStore(_ body: (LogStore) throws -> Void) throws {
  let directory = try TemporaryDirectory()
  let store = try LogStore(at: directory.appending("store"))
  try body(store)
  try store.close()
}

/// What `body` throws because a value cannot be opened, and the key and the keyspace that it names.
func refusal(_ body: () throws -> Void) -> (error: SealingError, key: String, view: String)? {
  do {
    try body()
  } catch StorageError.decoding(let key, let view, _, let underlying) {
    return (underlying as? SealingError).map { ($0, key, view) }
  } catch {
    Issue.record("\(error)")
  }
  return nil
}

extension KeyRing {
  /// A ring of one new key.
  convenience init(id: UInt32, _ algorithm: Algorithm = .aesGCM) throws {
    try self.init(.random(id: id, algorithm: algorithm))
  }
}

/// The id of the key that sealed a value.
func keyID(_ bytes: [UInt8]?) -> UInt32? {
  guard let bytes, bytes.count >= 34, bytes[0] == 0xFE else { return nil }
  return (0..<4).reduce(0) { $0 | UInt32(bytes[2 + $1]) << (8 * UInt32($1)) }
}
