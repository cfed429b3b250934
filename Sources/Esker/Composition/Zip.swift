/// Two storages with the same keys as one of pairs; see ``zip(_:_:)``.
public struct Zip2<First: StorageDesign, Second: StorageDesign>: StorageDesign {
  /// Where the first half of a pair is.
  public let first: First
  /// Where the second half of a pair is.
  public let second: Second
  /// An identity of its own.
  public let identity = StorageIdentity()

  @inlinable
  init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }

  /// Both names.
  public var name: String { "\(first.name)+\(second.name)" }
  /// Whether either may wait.
  @inlinable public var mayBlock: Bool { first.mayBlock || second.mayBlock }

  @inlinable
  func pair<A, B>(_ one: Entry<A>, _ other: Entry<B>) -> Entry<(A, B)> {
    Entry(
      (one.value, other.value),
      origin: one.origin == other.origin ? one.origin : .back(name),
      expiry: earlier(one.expiry, other.expiry)
    )
  }
}

/// The expiry that comes first. A duration, which no stored entry has, counts as never.
@usableFromInline
func earlier(_ one: Expiry, _ other: Expiry) -> Expiry {
  switch (one, other) {
  case (.at(let left), .at(let right)): .at(min(left, right))
  case (.at, _): one
  default: other
  }
}

extension Zip2: ReadableStorage
where First: ReadableStorage, Second: ReadableStorage, First.Key == Second.Key {
  /// Keys are those of both.
  public typealias Key = First.Key
  /// Values are pairs.
  public typealias Value = (First.Value, Second.Value)

  /// Both entries, if both are there. They are read one after the other: together they are no snapshot.
  @inlinable
  public func entry(forKey key: First.Key) throws(StorageError) -> Entry<(First.Value, Second.Value)>? {
    guard let one = try first.entry(forKey: key), let other = try second.entry(forKey: key) else { return nil }
    return pair(one, other)
  }

  /// What memory knows of both.
  @inlinable
  public func residentEntry(forKey key: First.Key) throws(StorageError) -> Resident<(First.Value, Second.Value)> {
    switch (try first.residentEntry(forKey: key), try second.residentEntry(forKey: key)) {
    case (.present(let one), .present(let other)): .present(pair(one, other))
    case (.absent, _), (_, .absent): .absent
    default: .unknown
    }
  }
}

extension Zip2: WritableStorage, StorageProtocol
where First: StorageProtocol, Second: StorageProtocol, First.Key == Second.Key {
  /// Stores both halves, the first one first. If the second is refused, the first is put back as it was; a write of somebody
  /// else in between is lost then.
  public func set(_ value: (First.Value, Second.Value), forKey key: First.Key, expiry: Expiry?) throws(StorageError) {
    let before = try first.entry(forKey: key)
    try first.set(value.0, forKey: key, expiry: expiry)
    do throws(StorageError) {
      try second.set(value.1, forKey: key, expiry: expiry)
    } catch {
      if let before {
        try first.set(before.value, forKey: key, expiry: before.expiry)
      } else {
        try first.removeValue(forKey: key)
      }
      throw error
    }
  }

  /// Removes both halves; true when there was one.
  @discardableResult
  public func removeValue(forKey key: First.Key) throws(StorageError) -> Bool {
    let one = try first.removeValue(forKey: key)
    let other = try second.removeValue(forKey: key)
    return one || other
  }
}

/// Two storages with the same keys as one of pairs. A pair is there when both halves are.
@inlinable
public func zip<First: ReadableStorage, Second: ReadableStorage>(
  _ first: First,
  _ second: Second
) -> Zip2<First, Second> where First.Key == Second.Key {
  Zip2(first, second)
}

/// Any number of storages with the same keys as one of tuples, for reading; see ``zip(_:_:_:_:)``.
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
    var expiry = Expiry.never
    do {
      let values = (repeat try Self.part(of: each parts, key, &expiry))
      return Entry(values, origin: .back(name), expiry: expiry)
    } catch let error as StorageError {
      throw error
    } catch {
      return nil
    }
  }

  /// What memory knows of all.
  public func residentEntry(forKey key: Key) throws(StorageError) -> Resident<(repeat each Part)> {
    var expiry = Expiry.never
    do {
      let values = (repeat try Self.residentPart(of: each parts, key, &expiry))
      return .present(Entry(values, origin: .memory, expiry: expiry))
    } catch let error as StorageError {
      throw error
    } catch {
      return .unknown
    }
  }

  private struct Missing: Error {}

  private static func part<Value>(
    of storage: any ReadableStorage<Key, Value>,
    _ key: Key,
    _ expiry: inout Expiry
  ) throws -> Value {
    guard let found = try storage.entry(forKey: key) else { throw Missing() }
    expiry = earlier(expiry, found.expiry)
    return found.value
  }

  private static func residentPart<Value>(
    of storage: any ReadableStorage<Key, Value>,
    _ key: Key,
    _ expiry: inout Expiry
  ) throws -> Value {
    guard case .present(let found) = try storage.residentEntry(forKey: key) else { throw Missing() }
    expiry = earlier(expiry, found.expiry)
    return found.value
  }
}

/// Any number of storages with the same keys as one of tuples, for reading. A tuple is there when all its parts are.
public func zip<Key: Sendable, First: Sendable, Second: Sendable, Third: Sendable, each Rest: Sendable>(
  _ first: any ReadableStorage<Key, First>,
  _ second: any ReadableStorage<Key, Second>,
  _ third: any ReadableStorage<Key, Third>,
  _ rest: repeat any ReadableStorage<Key, each Rest>
) -> Zip<Key, First, Second, Third, repeat each Rest> {
  Zip(first, second, third, repeat each rest)
}
