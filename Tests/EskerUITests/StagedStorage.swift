import Esker
import Foundation

/// A storage whose changes a test tells by itself, and which can be made to fail.
final class StagedStorage: EnumerableStorage, ObservableStorage, @unchecked Sendable {
  typealias Key = String
  typealias Value = Int

  struct Refusal: Error {}

  let name = "staged"
  private let lock = NSLock()
  private var content: [String: Int] = [:]
  private var refuses = false
  private var observers: [Int: @Sendable (StorageChange<String, Int>.Batch) -> Void] = [:]
  private var observed = 0

  /// Replaces what is there, of which nobody is notified.
  func replace(_ content: [String: Int]) { lock.withLock { self.content = content } }

  /// From now on, all reads fail or none does.
  func refuse(_ refuses: Bool) { lock.withLock { self.refuses = refuses } }

  /// Notifies all observers.
  func tell(_ change: StorageChange<String, Int>) { tell(StorageChange.Batch([change])) }

  /// Notifies all observers.
  func tell(_ batch: StorageChange<String, Int>.Batch) {
    for observer in lock.withLock({ observers.values }) { observer(batch) }
  }

  var isObserved: Bool { lock.withLock { !observers.isEmpty } }

  func identity(of key: String) throws(StorageError) -> StorageRequest.Identity {
    StorageRequest.Identity(storage: 0, key: Array(key.utf8))
  }

  private func readable() throws(StorageError) -> [String: Int] {
    let (content, refuses) = lock.withLock { (self.content, self.refuses) }
    if refuses { throw .back(name: name, underlying: Refusal()) }
    return content
  }

  func read(_ key: String, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Int>? {
    try readable()[key].map { Entry($0, origin: .back) }
  }

  func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (String, Entry<Int>) throws(StorageError) -> Void
  ) throws(StorageError) {
    for (key, value) in try readable() { try body(key, Entry(value, origin: .back)) }
  }

  func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (String) throws(StorageError) -> Void
  ) throws(StorageError) {
    for key in try readable().keys { try body(key) }
  }

  func count() throws(StorageError) -> Int { try readable().count }

  func observe(
    only key: String?,
    _ body: @escaping @Sendable (StorageChange<String, Int>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observeBatches(only: key) { batch in for change in batch.changes { body(change) } }
  }

  func observeBatches(
    only key: String?,
    _ body: @escaping @Sendable (StorageChange<String, Int>.Batch) -> Void
  ) throws(StorageError) -> ObservationToken {
    let number = lock.withLock {
      observed += 1
      observers[observed] = body
      return observed
    }
    return ObservationToken { [self] in lock.withLock { observers[number] = nil } }
  }
}
