#if Redis
  /// Generation, owner and lease of each slot.
  struct SlotTable {
    private(set) var generations: [UInt32]
    /// Places among the client's nodes; -1 is none.
    private var owners: [Int32]
    /// Configuration epochs at which the owners claimed them.
    private var epochs: [UInt64]
    /// Until when changes are known to be reported, in nanoseconds.
    private var leases: [UInt64]
    /// The first generation in which they may have had their present owners.
    private var assignments: [UInt32]
    private var moving: Set<Int> = []
    /// The last generation that was given.
    private(set) var lastGeneration: UInt32 = 1

    init(count: Int) {
      generations = Array(repeating: 1, count: count)
      owners = Array(repeating: -1, count: count)
      epochs = Array(repeating: 0, count: count)
      leases = Array(repeating: 0, count: count)
      assignments = Array(repeating: 1, count: count)
    }

    var count: Int { generations.count }

    /// The place of the owner among the nodes; -1 if there is none.
    func owner(_ slot: Int) -> Int { Int(owners[slot]) }

    func epoch(_ slot: Int) -> UInt64 { epochs[slot] }

    func lease(_ slot: Int) -> UInt64 { leases[slot] }

    /// The first generation in which the slot may have had its present owner.
    func assigned(_ slot: Int) -> UInt32 { assignments[slot] }

    /// Notes who owns a slot; true if that has changed.
    mutating func setOwner(_ slot: Int, _ owner: Int, epoch: UInt64) -> Bool {
      guard owners[slot] != Int32(owner) || epochs[slot] != epoch else { return false }
      owners[slot] = Int32(owner)
      epochs[slot] = epoch
      // Owners change ahead of the raise that tells it.
      assignments[slot] = lastGeneration + 1
      return true
    }

    /// Gives the slots, which come in ascending order, fresh generations, one for each range, and ends their lease.
    mutating func raise(_ slots: some Sequence<Int>) -> [(range: Range<Int>, generation: UInt32)] {
      var ranges: [Range<Int>] = []
      for slot in slots { Self.add(slot, to: &ranges) }
      return ranges.map { range in
        lastGeneration += 1
        for slot in range {
          generations[slot] = lastGeneration
          leases[slot] = 0
        }
        return (range, lastGeneration)
      }
    }

    /// Ends the lease of slots.
    mutating func suspend(_ ranges: [Range<Int>]) {
      for range in ranges { for slot in range { leases[slot] = 0 } }
    }

    /// Gives those of the slots a lease that are the node's and were not raised since `generation` was the last. Gives runs of one
    /// generation, and whether a slot got one that had none at `now`.
    mutating func grant(
      _ ranges: [Range<Int>],
      of owner: Int,
      since generation: UInt32,
      until: UInt64,
      now: UInt64
    ) -> (runs: [(range: Range<Int>, generation: UInt32)], isNew: Bool) {
      var isNew = false
      var runs: [(range: Range<Int>, generation: UInt32)] = []
      for slot in ranges.joined() where owners[slot] == Int32(owner) && generations[slot] <= generation {
        if leases[slot] <= now { isNew = true }
        leases[slot] = max(leases[slot], until)
        if let last = runs.last, last.range.upperBound == slot, last.generation == generations[slot] {
          runs[runs.count - 1].range = last.range.lowerBound..<(slot + 1)
        } else {
          runs.append((slot..<(slot + 1), generations[slot]))
        }
      }
      return (runs, isNew)
    }

    /// Notes that a slot is on its way; true if that was not known.
    mutating func noteMoving(_ slot: Int) -> Bool { moving.insert(slot).inserted }

    /// Replaces what is known to be on its way; gives what is new.
    mutating func setMoving(_ slots: Set<Int>) -> [Int] {
      defer { moving = slots }
      return slots.subtracting(moving).sorted()
    }

    /// The slots of a node, as ranges.
    func ranges(of owner: Int) -> [Range<Int>] {
      var ranges: [Range<Int>] = []
      for slot in owners.indices where owners[slot] == Int32(owner) { Self.add(slot, to: &ranges) }
      return ranges
    }

    /// Whether every slot has had a lease since it was raised last.
    var isLeased: Bool { leases.allSatisfy { $0 > 0 } }

    private static func add(_ slot: Int, to ranges: inout [Range<Int>]) {
      if let last = ranges.last, last.upperBound == slot {
        ranges[ranges.count - 1] = last.lowerBound..<(slot + 1)
      } else {
        ranges.append(slot..<(slot + 1))
      }
    }
  }
#endif
