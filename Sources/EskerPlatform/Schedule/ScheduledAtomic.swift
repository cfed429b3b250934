#if SCHEDULES
  import Synchronization

  /// An atomic, each access to which is a point of a run, in sequential consistency whatever the call asks for.
  ///
  /// It stands in for `Synchronization.Atomic`, with the calls that are used here, in each module that has an alias of that name.
  ///
  /// Safety: threads may share it, as they may what it holds.
  @frozen
  public struct ScheduledAtomic<Value: ScheduledRepresentable>: ~Copyable, @unchecked Sendable {
    @usableFromInline
    let atomic: Synchronization.Atomic<Value>

    /// An atomic with a first value.
    @inlinable
    public init(_ value: Value) {
      atomic = Synchronization.Atomic(value)
    }

    @inlinable
    func change(_ file: StaticString, _ line: UInt, _ body: (Value) -> Value) -> (oldValue: Value, newValue: Value) {
      Schedule.access(file, line)
      var old = Value.load(atomic)
      while true {
        let new = body(old)
        let result = Value.compareExchange(atomic, old, new)
        if result.exchanged { return (old, new) }
        old = result.original
      }
    }

    /// The value.
    @inlinable
    public func load(
      ordering: AtomicLoadOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> Value {
      Schedule.access(file, line)
      return Value.load(atomic)
    }

    /// Replaces the value.
    @inlinable
    public func store(
      _ value: Value,
      ordering: AtomicStoreOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) {
      _ = change(file, line) { _ in value }
    }

    /// Replaces the value, and returns the one before.
    @inlinable
    @discardableResult
    public func exchange(
      _ value: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> Value {
      change(file, line) { _ in value }.oldValue
    }

    /// Replaces the value if it is the expected one.
    @inlinable
    @discardableResult
    public func compareExchange(
      expected: Value,
      desired: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
      Schedule.access(file, line)
      return Value.compareExchange(atomic, expected, desired)
    }

    /// As the strong one: it does not fail for no reason.
    @inlinable
    @discardableResult
    public func weakCompareExchange(
      expected: Value,
      desired: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
      compareExchange(expected: expected, desired: desired, ordering: ordering, file, line)
    }
  }
#endif
