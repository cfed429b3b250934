#if SCHEDULES
  /// Some members of a run, in order.
  public struct MemberSet: Sequence, Equatable, Sendable {
    /// As many members a run may have.
    static let most = 64

    /// A bit for each.
    private(set) var bits: UInt64 = 0

    /// How many they are.
    public var count: Int { bits.nonzeroBitCount }

    /// Whether there is none.
    public var isEmpty: Bool { bits == 0 }

    /// Whether a member is one of them.
    public func contains(_ member: Int) -> Bool { bits >> UInt64(member) & 1 == 1 }

    mutating func insert(_ member: Int) { bits |= 1 << UInt64(member) }

    mutating func remove(_ member: Int) { bits &= ~(1 << UInt64(member)) }

    func union(_ other: MemberSet) -> MemberSet {
      var all = self
      all.bits |= other.bits
      return all
    }

    /// The next one in a circle; there must be one.
    func next(after member: Int) -> Int {
      let later = (bits >> UInt64(member + 1)) << UInt64(member + 1)
      return (later == 0 ? bits : later).trailingZeroBitCount
    }

    /// The members, in order.
    public func makeIterator() -> Iterator { Iterator(bits: bits) }

    /// Goes through the members in order.
    public struct Iterator: IteratorProtocol {
      var bits: UInt64

      /// The next one.
      public mutating func next() -> Int? {
        guard bits != 0 else { return nil }
        defer { bits &= bits - 1 }
        return bits.trailingZeroBitCount
      }
    }
  }
#endif
