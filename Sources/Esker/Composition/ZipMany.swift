/// Any number of storages with the same keys as one of tuples, for reading; see `zip`.
public struct Zip<Key: Sendable, each Part: Sendable>: ReadableStorage {
  /// Values are tuples.
  public typealias Value = (repeat each Part)

  private let parts: (repeat any ReadableStorage<Key, each Part>)
  /// All names.
  public let name: String
  /// Whether any of them may wait.
  public let mayBlock: Bool
  /// An identity of its own.
  public let identity = StorageIdentity()

  init(_ parts: repeat any ReadableStorage<Key, each Part>) {
    self.parts = (repeat each parts)
    var names: [String] = []
    var mayBlock = false
    for part in repeat each parts {
      names.append(part.name)
      if part.mayBlock { mayBlock = true }
    }
    name = names.joined(separator: "+")
    self.mayBlock = mayBlock
  }

  /// All entries, if all are there. They are read one after the other: together they are no snapshot.
  public func entry(forKey key: Key) throws(StorageError) -> Entry<(repeat each Part)>? {
    var found = Found()
    do {
      let values = (repeat try Self.part(of: each parts, key, &found))
      return Entry(values, origin: found.origin ?? .back(name), expiry: found.expiry)
    } catch let error as StorageError {
      throw error
    } catch {
      return nil
    }
  }

  /// What memory knows of all.
  public func residentEntry(forKey key: Key) throws(StorageError) -> Resident<(repeat each Part)> {
    var found = Found()
    do {
      let values = (repeat try Self.residentPart(of: each parts, key, &found))
      return .present(Entry(values, origin: found.origin ?? .back(name), expiry: found.expiry))
    } catch let error as StorageError {
      throw error
    } catch {
      return error is Missing ? .absent : .unknown
    }
  }

  private struct Missing: Error {}
  private struct Unsure: Error {}

  /// What the parts found so far have in common.
  private struct Found {
    var expiry = Expiry.never
    /// Nil for different ones.
    var origin: EntryOrigin?
    private var isFirst = true

    mutating func add<Value>(_ entry: Entry<Value>) -> Value {
      expiry = earlier(expiry, entry.expiry)
      origin = isFirst || origin == entry.origin ? entry.origin : nil
      isFirst = false
      return entry.value
    }
  }

  private static func part<Value>(
    of storage: any ReadableStorage<Key, Value>,
    _ key: Key,
    _ found: inout Found
  ) throws -> Value {
    guard let entry = try storage.entry(forKey: key) else { throw Missing() }
    return found.add(entry)
  }

  private static func residentPart<Value>(
    of storage: any ReadableStorage<Key, Value>,
    _ key: Key,
    _ found: inout Found
  ) throws -> Value {
    switch try storage.residentEntry(forKey: key) {
    case .present(let entry): return found.add(entry)
    case .absent: throw Missing()
    case .unknown: throw Unsure()
    }
  }
}

/// Any number of storages with the same keys as one of tuples; see `zip`.
public struct WritableZip<Key: Sendable, each Part: Sendable>: StorageProtocol {
  /// Values are tuples.
  public typealias Value = (repeat each Part)

  private let reading: Zip<Key, repeat each Part>
  private let parts: (repeat any StorageProtocol<Key, each Part>)

  init(_ parts: repeat any StorageProtocol<Key, each Part>) {
    self.parts = (repeat each parts)
    reading = Zip(repeat each parts)
  }

  /// All names.
  public var name: String { reading.name }
  /// An identity of its own.
  public var identity: StorageIdentity { reading.identity }
  /// Whether any of them may wait.
  public var mayBlock: Bool { reading.mayBlock }

  /// All entries, if all are there. They are read one after the other: together they are no snapshot.
  public func entry(forKey key: Key) throws(StorageError) -> Entry<(repeat each Part)>? {
    try reading.entry(forKey: key)
  }

  /// What memory knows of all.
  public func residentEntry(forKey key: Key) throws(StorageError) -> Resident<(repeat each Part)> {
    try reading.residentEntry(forKey: key)
  }

  /// Stores all parts, one after the other. If one is refused, those before it are put back as they were; a write of somebody
  /// else in between is lost then.
  ///
  /// - Throws: what a part was refused for; of one that could not be put back, that.
  public func set(_ value: (repeat each Part), forKey key: Key, expiry: Expiry?) throws(StorageError) {
    var putBack: [() throws(StorageError) -> Void] = []
    for (part, value) in repeat (each parts, each value) {
      do throws(StorageError) {
        let restore = try part.restorer(forKey: key)
        try part.set(value, forKey: key, expiry: expiry)
        putBack.append(restore)
      } catch {
        var failure = error
        for restore in putBack.reversed() {
          do throws(StorageError) { try restore() } catch { failure = error }
        }
        throw failure
      }
    }
  }

  /// Removes all parts; true when there was one.
  @discardableResult
  public func removeValue(forKey key: Key) throws(StorageError) -> Bool {
    var wasThere = false
    for part in repeat each parts {
      if try part.removeValue(forKey: key) { wasThere = true }
    }
    return wasThere
  }
}

/// Any number of storages with the same keys as one of tuples, for reading. A tuple is there when all its parts are.
@_disfavoredOverload
public func zip<Key: Sendable, First: Sendable, Second: Sendable, Third: Sendable, each Rest: Sendable>(
  _ first: any ReadableStorage<Key, First>,
  _ second: any ReadableStorage<Key, Second>,
  _ third: any ReadableStorage<Key, Third>,
  _ rest: repeat any ReadableStorage<Key, each Rest>
) -> Zip<Key, First, Second, Third, repeat each Rest> {
  Zip(first, second, third, repeat each rest)
}

/// Any number of storages with the same keys as one of tuples, which is written when all its parts can be. A tuple is there when all its parts are.
public func zip<Key: Sendable, First: Sendable, Second: Sendable, Third: Sendable, each Rest: Sendable>(
  _ first: any StorageProtocol<Key, First>,
  _ second: any StorageProtocol<Key, Second>,
  _ third: any StorageProtocol<Key, Third>,
  _ rest: repeat any StorageProtocol<Key, each Rest>
) -> WritableZip<Key, First, Second, Third, repeat each Rest> {
  WritableZip(first, second, third, repeat each rest)
}

// Three have functions of their own: a result that is used at once leaves an empty pack uninferred.

/// Three storages with the same keys as one of tuples, for reading. A tuple is there when all its parts are.
@_disfavoredOverload
public func zip<Key: Sendable, First: Sendable, Second: Sendable, Third: Sendable>(
  _ first: any ReadableStorage<Key, First>,
  _ second: any ReadableStorage<Key, Second>,
  _ third: any ReadableStorage<Key, Third>
) -> Zip<Key, First, Second, Third> {
  Zip(first, second, third)
}

/// Three storages with the same keys as one of tuples, which is written when all its parts can be. A tuple is there when all its
/// parts are.
public func zip<Key: Sendable, First: Sendable, Second: Sendable, Third: Sendable>(
  _ first: any StorageProtocol<Key, First>,
  _ second: any StorageProtocol<Key, Second>,
  _ third: any StorageProtocol<Key, Third>
) -> WritableZip<Key, First, Second, Third> {
  WritableZip(first, second, third)
}

extension StorageProtocol {
  /// Puts the value of a key back as it is now.
  func restorer(forKey key: Key) throws(StorageError) -> () throws(StorageError) -> Void {
    guard let before = try entry(forKey: key) else {
      return { () throws(StorageError) in _ = try removeValue(forKey: key) }
    }
    return { () throws(StorageError) in try set(before.value, forKey: key, expiry: before.expiry) }
  }
}
