import Esker
import Foundation

/// The simplest storage in memory, for composing. It can be made to fail, and counts what is asked of it.
final class DictionaryStorage<Key: StorageKey, Value: Sendable>: UpdatableStorage, EnumerableStorage, ClearableStorage,
  @unchecked Sendable
{
  struct Refusal: Error, Equatable {}

  let name: String
  private let number = StorageRequest.newStorage()
  /// Whether tasks change threads to ask it.
  private let mayBlock: Bool
  private let lock = NSRecursiveLock()
  private var content: [Key: Entry<Value>] = [:]
  private var lastWrite: UInt64 = 0
  private var refusesReads = false
  private var refusesWrites = false
  private var counted = (reads: 0, held: 0, writes: 0)

  init(_ content: [Key: Value] = [:], name: String = "dictionary", mayBlock: Bool = false) {
    self.name = name
    self.mayBlock = mayBlock
    self.content = content.mapValues { Entry($0, origin: .memory, version: SequenceNumber(rawValue: 0)) }
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
  var heldReads: Int { lock.withLock { counted.held } }
  var writes: Int { lock.withLock { counted.writes } }

  /// What is there, without counting.
  var all: [Key: Value] { lock.withLock { content.mapValues(\.value) } }

  func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity {
    do {
      return StorageRequest.Identity(storage: number, key: try Key.keyTransformer.encode(key))
    } catch {
      throw .key("\(key)", view: name, underlying: error)
    }
  }

  func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    try locked { () throws(StorageError) in
      counted.reads += 1
      if refusesReads { throw .back(name: name, underlying: Refusal()) }
      return content[key]
    }
  }

  func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    try locked { () throws(StorageError) in
      counted.held += 1
      // What cannot be read is not in memory either.
      if refusesReads { return .unknown }
      if let entry = content[key] { return .entry(entry) }
      return mayBlock ? .unknown : .absent
    }
  }

  func write(_ key: Key, _ call: StorageRequest.Write<Value>) throws(StorageError) -> StorageRequest.Receipt {
    try locked { () throws(StorageError) in
      counted.writes += 1
      let found = content[key]
      let holds =
        switch call.condition {
        case .always: true
        case .absent: found == nil
        case .present: found != nil
        case .version(let version): found?.version == version
        }
      guard holds else { return StorageRequest.Receipt(isDone: false) }
      // What it has it lets go of all the same.
      if refusesWrites, case .set = call.action { throw .back(name: name, underlying: Refusal()) }
      lastWrite += 1
      let version = SequenceNumber(rawValue: lastWrite)
      let expiry = call.expiry ?? .never
      switch call.action {
      case .set(let value): content[key] = Entry(value, origin: .memory, expiry: expiry, version: version)
      case .touch, .extend:
        guard let found else { return StorageRequest.Receipt(isDone: false) }
        content[key] = Entry(found.value, origin: .memory, expiry: expiry, version: version)
      case .remove: content[key] = nil
      }
      return StorageRequest.Receipt(isDone: true, wasThere: found != nil, version: version, expiry: expiry)
    }
  }

  func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    for (key, entry) in lock.withLock({ content }) { try body(key, entry) }
  }

  func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    for key in lock.withLock({ content }).keys { try body(key) }
  }

  func count() throws(StorageError) -> Int { lock.withLock { content.count } }

  func removeAll(durability: Durability?) throws(StorageError) { lock.withLock { content = [:] } }

  func removeExpired() throws(StorageError) -> Int { 0 }
}
