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
    let putBack = try first.restorer(forKey: key)
    try first.set(value.0, forKey: key, expiry: expiry)
    do throws(StorageError) {
      try second.set(value.1, forKey: key, expiry: expiry)
    } catch {
      try putBack()
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
