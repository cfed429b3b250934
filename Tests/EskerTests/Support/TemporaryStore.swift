import Esker
import Foundation

/// Calls `body` with a new store, and removes it afterwards.
func withTemporaryStore(_ body: (LogStore) throws -> Void) throws {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("esker-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  let store = try LogStore(at: directory.path)
  try body(store)
  try store.close()
}

/// A path at which nothing is; whatever a test puts there goes with the system's temporary directory.
func temporaryPath() -> String {
  FileManager.default.temporaryDirectory.appendingPathComponent("esker-\(UUID().uuidString)").path
}

/// Calls `body` with a new store, and removes it afterwards.
func withTemporaryStore(_ body: (LogStore) async throws -> Void) async throws {
  let path = temporaryPath()
  defer { try? FileManager.default.removeItem(atPath: path) }
  let store = try LogStore(at: path)
  try await body(store)
  try store.close()
}
