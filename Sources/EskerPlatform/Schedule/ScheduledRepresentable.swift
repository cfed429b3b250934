#if SCHEDULES
  import Synchronization

  /// A value that an atomic of a run can hold: the library has the calls for each width, not for all of them.
  public protocol ScheduledRepresentable: AtomicRepresentable {
    /// What it holds, in one order with all other accesses.
    static func load(_ atomic: borrowing Synchronization.Atomic<Self>) -> Self
    /// Replaces what it holds if that is `expected`, in one order with all other accesses.
    static func compareExchange(_ atomic: borrowing Synchronization.Atomic<Self>, _ expected: Self, _ desired: Self)
      -> (exchanged: Bool, original: Self)
  }

  extension ScheduledRepresentable where AtomicRepresentation == _Atomic8BitStorage {
    /// The value.
    @inlinable
    public static func load(_ atomic: borrowing Synchronization.Atomic<Self>) -> Self {
      atomic.load(ordering: .sequentiallyConsistent)
    }

    /// Replaces the value if it is the expected one.
    @inlinable
    public static func compareExchange(
      _ atomic: borrowing Synchronization.Atomic<Self>,
      _ expected: Self,
      _ desired: Self
    ) -> (exchanged: Bool, original: Self) {
      atomic.compareExchange(expected: expected, desired: desired, ordering: .sequentiallyConsistent)
    }
  }

  extension ScheduledRepresentable where AtomicRepresentation == _Atomic32BitStorage {
    /// The value.
    @inlinable
    public static func load(_ atomic: borrowing Synchronization.Atomic<Self>) -> Self {
      atomic.load(ordering: .sequentiallyConsistent)
    }

    /// Replaces the value if it is the expected one.
    @inlinable
    public static func compareExchange(
      _ atomic: borrowing Synchronization.Atomic<Self>,
      _ expected: Self,
      _ desired: Self
    ) -> (exchanged: Bool, original: Self) {
      atomic.compareExchange(expected: expected, desired: desired, ordering: .sequentiallyConsistent)
    }
  }

  extension ScheduledRepresentable where AtomicRepresentation == _Atomic64BitStorage {
    /// The value.
    @inlinable
    public static func load(_ atomic: borrowing Synchronization.Atomic<Self>) -> Self {
      atomic.load(ordering: .sequentiallyConsistent)
    }

    /// Replaces the value if it is the expected one.
    @inlinable
    public static func compareExchange(
      _ atomic: borrowing Synchronization.Atomic<Self>,
      _ expected: Self,
      _ desired: Self
    ) -> (exchanged: Bool, original: Self) {
      atomic.compareExchange(expected: expected, desired: desired, ordering: .sequentiallyConsistent)
    }
  }

  extension Bool: ScheduledRepresentable {}
  extension UInt8: ScheduledRepresentable {}
  extension Int: ScheduledRepresentable {}
  extension UInt: ScheduledRepresentable {}
  extension Int32: ScheduledRepresentable {}
  extension UInt32: ScheduledRepresentable {}
  extension Int64: ScheduledRepresentable {}
  extension UInt64: ScheduledRepresentable {}
  // Safety: an atomic keeps an address without following it.
  extension UnsafeMutableRawPointer: @unsafe ScheduledRepresentable {}
#endif
