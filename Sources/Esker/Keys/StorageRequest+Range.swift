extension StorageRequest {
  /// Some of a storage's keys, by their order; as a `KeyRange`, of keys that have a type.
  ///
  /// ```swift
  /// let visits = try store.storage("visits", key: CompositeKey<String, Date>.self, of: Visit.self)
  /// let latest = try visits.entries(in: .prefix("vienna"), order: .descending, limit: 50)
  /// let thisWeek = try visits.entries(in: .prefix("vienna").from(CompositeKey("vienna", monday)))
  /// ```
  public struct Range<Key: OrderedStorageKey>: Sendable {
    /// What narrows it, one after the other: a key becomes bytes as the storage's own keys do.
    private var steps: [@Sendable (KeyRange, KeyTransformer<Key>) throws -> KeyRange] = []

    /// All keys.
    public static var all: Self { Self() }

    /// The keys that are not less than `key`.
    public static func from(_ key: Key) -> Self { all.from(key) }

    /// The keys that are greater than `key`.
    public static func after(_ key: Key) -> Self { all.after(key) }

    /// The keys that are less than `key`.
    public static func upTo(_ key: Key) -> Self { all.upTo(key) }

    /// The keys that are not greater than `key`.
    public static func through(_ key: Key) -> Self { all.through(key) }

    /// Of these keys, those that are not less than `key`.
    public func from(_ key: Key) -> Self { adding { range, keys in range.from(try keys.encode(key)) } }

    /// Of these keys, those that are greater than `key`.
    public func after(_ key: Key) -> Self { adding { range, keys in range.after(try keys.encode(key)) } }

    /// Of these keys, those that are less than `key`.
    public func upTo(_ key: Key) -> Self { adding { range, keys in range.upTo(try keys.encode(key)) } }

    /// Of these keys, those that are not greater than `key`.
    public func through(_ key: Key) -> Self { adding { range, keys in range.through(try keys.encode(key)) } }

    private func adding(
      _ step: @escaping @Sendable (KeyRange, KeyTransformer<Key>) throws -> KeyRange
    ) -> Self {
      var range = self
      range.steps.append(step)
      return range
    }

    /// The range of the keys' bytes.
    func bytes(by keys: KeyTransformer<Key>) throws -> KeyRange {
      try steps.reduce(.all) { range, step in try step(range, keys) }
    }
  }
}

extension StorageRequest.Range where Key == String {
  /// The keys that begin with `prefix`, by their UTF-8.
  public static func prefix(_ prefix: String) -> Self { all.prefix(prefix) }

  /// Of these keys, those that begin with `prefix`, by their UTF-8.
  public func prefix(_ prefix: String) -> Self {
    adding { range, keys in range.prefix(try keys.encode(prefix)) }
  }
}

extension StorageRequest.Range {
  /// The keys that have this first part.
  public static func prefix<First, Second, each Rest>(
    _ first: First
  ) -> Self where Key == CompositeKey<First, Second, repeat each Rest> { all.prefix(first) }

  /// Of these keys, those that have this first part.
  public func prefix<First, Second, each Rest>(
    _ first: First
  ) -> Self where Key == CompositeKey<First, Second, repeat each Rest> {
    adding { range, _ in range.prefix(try Key.prefix(first)) }
  }

  /// The keys that have these first parts.
  public static func prefix<First, Second, Third, each Rest>(
    _ first: First,
    _ second: Second
  ) -> Self where Key == CompositeKey<First, Second, Third, repeat each Rest> { all.prefix(first, second) }

  /// Of these keys, those that have these first parts.
  public func prefix<First, Second, Third, each Rest>(
    _ first: First,
    _ second: Second
  ) -> Self where Key == CompositeKey<First, Second, Third, repeat each Rest> {
    adding { range, _ in range.prefix(try Key.prefix(first, second)) }
  }
}
