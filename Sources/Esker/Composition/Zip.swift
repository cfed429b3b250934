/// Two storages with the same keys as one of pairs; see ``zip(_:_:)``. A pair is there when both halves are.
public struct Zip<First: StorageProtocol, Second: StorageProtocol>: StorageProtocol where First.Key == Second.Key {
  /// Keys are those of both.
  public typealias Key = First.Key
  /// Values are pairs.
  public typealias Value = (First.Value, Second.Value)

  /// Where the first half of a pair is.
  public let first: First
  /// Where the second half of a pair is.
  public let second: Second
  private let number = StorageRequest.newStorage()

  @usableFromInline
  init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }

  /// Both names.
  public var name: String { "\(first.name)+\(second.name)" }

  /// The time of the first.
  public var time: WallTime { first.time }

  /// An identity of its own, and the key's bytes.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity {
    StorageRequest.Identity(storage: number, key: try first.identity(of: key).key)
  }

  /// Entries of pairs have no version: no condition could be checked for both halves. A pair is no better than either half: one that
  /// was made, or that stands in for what could not be read, makes it such a pair.
  private func pair(_ one: Entry<First.Value>?, _ other: Entry<Second.Value>?) -> Entry<Value>? {
    guard let one, let other else { return nil }
    var origin = one.origin == other.origin ? one.origin : .back
    if other.origin == .produced || one.origin == .produced { origin = .produced }
    var pair = Entry((one.value, other.value), origin: origin, expiry: earlier(one.expiry, other.expiry))
    pair.isTentative = one.isTentative || other.isTentative
    return pair
  }
}

/// The expiry that comes first. A duration, which no stored entry has, counts as never.
private func earlier(_ one: Expiry, _ other: Expiry) -> Expiry {
  switch (one, other) {
  case (.at(let left), .at(let right)): .at(min(left, right))
  case (.at, _): one
  default: other
  }
}

extension Zip: AsyncReadableStorage where First: AsyncReadableStorage, Second: AsyncReadableStorage {
  /// What memory knows of both.
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    switch (try first.held(key, call), try second.held(key, call)) {
    case (.entry(let one), .entry(let other)): pair(one, other).map { .entry($0) } ?? .absent
    case (.absent, _), (_, .absent): .absent
    default: .unknown
    }
  }

  /// Both entries, if both are there. They are read one after the other: together they are no snapshot.
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    guard let one = try await first.found(key, call) else { return nil }
    return pair(one, try await second.found(key, call))
  }
}

extension Zip: ReadableStorage where First: ReadableStorage, Second: ReadableStorage {
  /// Both entries, if both are there. They are read one after the other: together they are no snapshot.
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    guard let one = try first.read(key, call) else { return nil }
    return pair(one, try second.read(key, call))
  }
}

extension Zip: AsyncWritableStorage, WritableStorage
where First: ReadableStorage, First: WritableStorage, Second: WritableStorage {
  /// Stores or removes both halves, the first one first. If the second is refused, the first is put back as it was, wherever it is
  /// kept; a write by another thread in between is then lost.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` for a write on a condition, which could not be made in one step. A new
  ///   expiry may have the condition that there is a value, as it has anyway.
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    let isPossible =
      switch (call.condition, call.action) {
      case (.always, _), (.present, .touch), (.present, .extend): true
      default: false
      }
    guard isPossible else { throw .unsupported(operation: "be written on a condition", view: name) }
    let restore = try restorer(of: first, key)
    let one = try first.write(key, call.map { $0.0 })
    guard one.isDone else { return one }
    let other: StorageRequest.Receipt
    do throws(StorageError) {
      other = try second.write(key, call.map { $0.1 })
    } catch {
      try restore?()
      throw error
    }
    // There is no pair, so half of one must not have another expiry.
    if !other.isDone { try restore?() }
    return StorageRequest.Receipt(
      isDone: other.isDone,
      wasThere: one.wasThere || other.wasThere,
      expiry: earlier(one.expiry, other.expiry)
    )
  }
}

/// Two storages with the same keys as one of pairs. A pair is there when both halves are.
public func zip<First: StorageProtocol, Second: StorageProtocol>(
  _ first: First,
  _ second: Second
) -> Zip<First, Second> where First.Key == Second.Key {
  Zip(first, second)
}

/// Three storages with the same keys as one of triples. A triple is there when all its parts are.
public func zip<First: StorageProtocol, Second: StorageProtocol, Third: StorageProtocol>(
  _ first: First,
  _ second: Second,
  _ third: Third
) -> Composed<
  Zip<Zip<First, Second>, Third>,
  StorageStep.MapValues<First.Key, ((First.Value, Second.Value), Third.Value), (First.Value, Second.Value, Third.Value)>
> where First.Key == Second.Key, First.Key == Third.Key {
  Composed(
    Zip(Zip(first, second), third),
    StorageStep.MapValues(
      view: "\(first.name)+\(second.name)+\(third.name)",
      decode: { ($0.0.0, $0.0.1, $0.1) },
      encode: { (($0.0, $0.1), $0.2) }
    )
  )
}

/// Four storages with the same keys as one of quadruples. A quadruple is there when all its parts are.
public func zip<First: StorageProtocol, Second: StorageProtocol, Third: StorageProtocol, Fourth: StorageProtocol>(
  _ first: First,
  _ second: Second,
  _ third: Third,
  _ fourth: Fourth
) -> Composed<
  Zip<Zip<First, Second>, Zip<Third, Fourth>>,
  StorageStep.MapValues<
    First.Key, ((First.Value, Second.Value), (Third.Value, Fourth.Value)),
    (First.Value, Second.Value, Third.Value, Fourth.Value)
  >
> where First.Key == Second.Key, First.Key == Third.Key, First.Key == Fourth.Key {
  Composed(
    Zip(Zip(first, second), Zip(third, fourth)),
    StorageStep.MapValues(
      view: "\(first.name)+\(second.name)+\(third.name)+\(fourth.name)",
      decode: { ($0.0.0, $0.0.1, $0.1.0, $0.1.1) },
      encode: { (($0.0, $0.1), ($0.2, $0.3)) }
    )
  )
}
