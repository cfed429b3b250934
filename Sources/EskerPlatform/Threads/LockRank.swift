import CEskerShims

/// A lock's place in the locking order: a thread that holds a lock waits only for locks of higher ranks, so threads cannot
/// deadlock.
///
/// Debug builds check the order whenever a lock is taken, and whenever a file is touched they check that no lock is held
/// that forbids I/O. Release builds omit all of it.
public struct LockRank: Sendable {
  /// From 0, the first to be taken, to 63; negative for a lock outside the order.
  let position: Int
  /// Whether files may be touched while the lock is held. If not, waiting for the lock never means waiting for a disk.
  let allowsIO: Bool
  let name: StaticString

  /// The rank at a position.
  public init(_ position: Int, _ name: StaticString, allowsIO: Bool = false) {
    precondition((0..<64).contains(position), "there is no such rank")
    self.init(position: position, name, allowsIO: allowsIO)
  }

  private init(position: Int, _ name: StaticString, allowsIO: Bool) {
    self.position = position
    self.name = name
    self.allowsIO = allowsIO
  }

  /// The rank of a lock that Esker never holds while it takes one of its own: a program's or a test's lock.
  public static let unranked = LockRank(position: -1, "unranked", allowsIO: true)
}

#if DEBUG
  extension LockRank {
    /// Called before the thread waits for the lock.
    @usableFromInline
    func willBeTaken() {
      guard position >= 0 else { return }
      let held = esker_held_ranks()
      precondition(
        held >> UInt64(position) == 0,
        "the lock '\(name)' (\(position)) is taken under those of the ranks \(Self.positions(held))"
      )
    }

    /// Called after the thread has taken the lock. A lock taken by `tryLock` may be out of order, since nobody waited.
    @usableFromInline
    func wasTaken() {
      if position >= 0 { esker_held_add(Int32(position), allowsIO ? 0 : 1) }
    }

    /// Called before the thread releases the lock.
    @usableFromInline
    func wasGivenBack() {
      if position >= 0 { esker_held_remove(Int32(position), allowsIO ? 0 : 1) }
    }

    private static func positions(_ ranks: UInt64) -> [Int] { (0..<64).filter { ranks & 1 << UInt64($0) != 0 } }
  }
#endif

extension LockRank {
  /// Called before a file or directory is touched: no lock may be held that forbids it.
  @inline(__always)
  public static func expectIOAllowed(_ call: StaticString = #function) {
    #if DEBUG
      precondition(esker_held_io_bans() == 0, "\(call) under a lock that forbids input and output")
    #endif
  }

  /// Called before a thread waits for the pins of all others: no lock may be held but one that no pinned thread waits for.
  static func expectNoneHeld(but rank: LockRank?) {
    #if DEBUG
      let allowed = rank.map { 1 << UInt64($0.position) } ?? (0 as UInt64)
      let held = esker_held_ranks() & ~allowed
      precondition(held == 0, "pins are waited for under locks of the ranks \(positions(held))")
    #endif
  }

  /// Runs test code that is called from inside the engine and uses other stores freely.
  public static func apart<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    #if DEBUG
      let held = esker_held_exchange(esker_held())
      defer { _ = esker_held_exchange(held) }
    #endif
    return try body()
  }
}
