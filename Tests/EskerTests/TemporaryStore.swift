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
