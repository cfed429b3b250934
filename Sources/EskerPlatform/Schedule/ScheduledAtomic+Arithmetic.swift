#if SCHEDULES
  import Synchronization

  extension ScheduledAtomic where Value: FixedWidthInteger {
    /// Adds, and traps on overflow.
    @inlinable
    @discardableResult
    public func add(
      _ operand: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(file, line) { $0 + operand }
    }

    /// Subtracts, and traps on overflow.
    @inlinable
    @discardableResult
    public func subtract(
      _ operand: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(file, line) { $0 - operand }
    }

    /// Adds.
    @inlinable
    @discardableResult
    public func wrappingAdd(
      _ operand: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(file, line) { $0 &+ operand }
    }

    /// Subtracts.
    @inlinable
    @discardableResult
    public func wrappingSubtract(
      _ operand: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(file, line) { $0 &- operand }
    }

    /// Keeps the smaller one.
    @inlinable
    @discardableResult
    public func min(
      _ operand: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(file, line) { Swift.min($0, operand) }
    }

    /// Keeps the larger one.
    @inlinable
    @discardableResult
    public func max(
      _ operand: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(file, line) { Swift.max($0, operand) }
    }

    /// Keeps the bits that both have.
    @inlinable
    @discardableResult
    public func bitwiseAnd(
      _ operand: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(file, line) { $0 & operand }
    }

    /// Keeps the bits that one of both has.
    @inlinable
    @discardableResult
    public func bitwiseOr(
      _ operand: Value,
      ordering: AtomicUpdateOrdering,
      _ file: StaticString = #fileID,
      _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(file, line) { $0 | operand }
    }
  }
#endif
