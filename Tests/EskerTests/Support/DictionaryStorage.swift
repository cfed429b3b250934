import Esker
import Foundation

/// The simplest storage in memory, for composing. It can be made to fail, and counts what is asked of it.
final class DictionaryStorage<Key: Hashable & Sendable, Value: Sendable>: UpdatableStorage, EnumerableStorage,
  ClearableStorage, @unchecked Sendable
{
  struct Refusal: Error, Equatable {}

  let name: String
  let identity = StorageIdentity()
  let mayBlock: Bool
  private let lock = NSRecursiveLock()
  private var content: [Key: Entry<Value>] = [:]
  private var refusesReads = false
  private var refusesWrites = false
  private var counted = (reads: 0, residentReads: 0, writes: 0)

  init(_ content: [Key: Value] = [:], name: String = "dictionary", mayBlock: Bool = false) {
    self.name = name
    self.mayBlock = mayBlock
    self.content = content.mapValues { Entry($0, origin: .memory) }
  }

  private func locked<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  func refuse(reads: Bool = false, writes: Bool = false) {
    lock.withLock {
      refusesReads = reads
      refusesWrites = writes
    }
  }

  var reads: Int { lock.withLock { counted.reads } }
  var residentReads: Int { lock.withLock { counted.residentReads } }
  var writes: Int { lock.withLock { counted.writes } }

  /// What is there, without counting.
  var all: [Key: Value] { lock.withLock { content.mapValues(\.value) } }

  func entry(forKey key: Key) throws(StorageError) -> Entry<Value>? {
    try locked { () throws(StorageError) in
      counted.reads += 1
      if refusesReads { throw .back(name: name, underlying: Refusal()) }
      return content[key]
    }
  }

  func residentEntry(forKey key: Key) throws(StorageError) -> Resident<Value> {
    try locked { () throws(StorageError) in
      counted.residentReads += 1
      if let entry = content[key] { return .present(entry) }
      return .absent
    }
  }

  func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) {
    try locked { () throws(StorageError) in
      counted.writes += 1
      if refusesWrites { throw .back(name: name, underlying: Refusal()) }
      content[key] = Entry(value, origin: .memory, expiry: expiry ?? .never)
    }
  }

  func removeValue(forKey key: Key) throws(StorageError) -> Bool {
    try locked { () throws(StorageError) in
      counted.writes += 1
      return content.removeValue(forKey: key) != nil
    }
  }

  func update<R>(
    forKey key: Key,
    expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try locked { () throws(StorageError) in
      var value = content[key]?.value
      let result = try body(&value)
      if refusesWrites { throw .back(name: name, underlying: Refusal()) }
      content[key] = value.map { Entry($0, origin: .memory, expiry: expiry ?? content[key]?.expiry ?? .never) }
      return result
    }
  }

  func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    for (key, entry) in lock.withLock({ content }) { try body(key, entry) }
  }

  func forEachKey(_ body: (Key) throws(StorageError) -> Void) throws(StorageError) {
    for key in lock.withLock({ content }).keys { try body(key) }
  }

  func count() throws(StorageError) -> Int { lock.withLock { content.count } }

  func removeAll() throws(StorageError) { lock.withLock { content = [:] } }

  func removeExpired() throws(StorageError) -> Int { 0 }
}
