import Esker
import Foundation

/// A place in an input between two records.
struct LoadPlace: Equatable {
  /// Bytes of the input before it.
  var bytes: Int
  /// Lines before it.
  var lines: Int
  /// The checksum of those bytes, and of the way they are read.
  var checksum: UInt32
}

/// A load's position: everything before it is stored, and nothing after it.
struct LoadPosition: Codable, Equatable {
  /// Bytes of the input.
  var bytes = 0
  /// Lines of the input.
  var lines = 0
  /// Records stored.
  var records = 0
  /// The checksum of those bytes, and of the way they are read.
  var checksum: UInt32 = 0

  var place: LoadPlace { LoadPlace(bytes: bytes, lines: lines, checksum: checksum) }
}

/// Keeps a load's position in the store itself, in the same batch as the records, so that it is exact after any crash.
///
/// It is stored in a keyspace of its own, under the names of the input and of the target keyspace, and is removed with the
/// last batch.
struct LoadCheckpoint {
  static let keyspaceName = "esker.load"

  let keyspace: Keyspace
  let key: String

  /// - Parameter input: The input's name.
  init(input: String, into target: Keyspace) throws(StoreError) {
    keyspace = try target.store.keyspace(Self.keyspaceName)
    key = Self.key(input, target)
  }

  /// Where the load of the input stopped; nil if it did not.
  func position() throws -> LoadPosition? {
    guard let bytes = try keyspace.get(key) else { return nil }
    return try? JSONDecoder().decode(LoadPosition.self, from: Data(bytes))
  }

  func keep(_ position: LoadPosition, in batch: inout WriteBatch) throws {
    try batch.put(Array(JSONEncoder().encode(position)), forKey: key, in: keyspace)
  }

  func forget(in batch: inout WriteBatch) throws(StoreError) {
    try batch.remove(key, in: keyspace)
  }

  /// Drops the position that an earlier load of the input left, because this one starts from the beginning.
  static func forget(input: String, into target: Keyspace) throws(StoreError) {
    guard try target.store.keyspaceNames.contains(keyspaceName) else { return }
    try target.store.keyspace(keyspaceName).remove(key(input, target))
  }

  private static func key(_ input: String, _ target: Keyspace) -> String {
    "\(input)\n\(target.name)"
  }
}
