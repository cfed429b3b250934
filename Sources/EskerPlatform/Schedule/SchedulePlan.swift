#if SCHEDULES
  /// Who could go on at a step of a run.
  public struct Choice {
    /// How many choices came before it.
    public let step: Int
    /// The member that got here. It may be waiting, or have ended.
    public let current: Int
    /// Who can go on.
    public let ready: MemberSet
    /// Who waits for a time only so long: the time would be over.
    public let timed: MemberSet
    /// Who goes on if nothing else is wanted: the same one as long as it can.
    public let usual: Int
    /// Whether the current one says that it can do nothing before others do.
    public let givesWay: Bool
  }

  /// Decides who goes on.
  public struct SchedulePlan: Sendable {
    /// Deviations from the usual choice, by step: enough to run any schedule again.
    private let deviations: [Int: Int]
    /// Priorities, where there are no deviations.
    private var priorities: Priorities?

    /// The usual choices, but for some.
    public init(_ deviations: [Int: Int] = [:]) {
      self.deviations = deviations
    }

    /// Random priorities, with `depth - 1` changes within so many steps.
    ///
    /// Where a mistake needs `depth` things to happen in some order, one of n threads with k steps meets it with a probability of at
    /// least 1 in n·k^(depth - 1): "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.
    public init(seed: UInt64, depth: Int, steps: Int) {
      deviations = [:]
      priorities = Priorities(seed: seed, depth: depth, steps: steps)
    }

    mutating func choose(_ choice: Choice) -> Int {
      priorities?.choose(choice) ?? deviations[choice.step] ?? choice.usual
    }

    /// Which of the waiting members a signal wakes.
    mutating func wake(_ waiting: MemberSet, step: Int) -> Int {
      priorities?.pick(waiting) ?? deviations[step] ?? waiting.next(after: -1)
    }
  }

  struct Priorities: Sendable {
    private var state: UInt64
    private var changes: Set<Int> = []
    /// The highest goes on. Zero for who has not been met.
    private var values = [Int64](repeating: 0, count: MemberSet.most)
    private var lowest: Int64 = 0

    init(seed: UInt64, depth: Int, steps: Int) {
      state = seed
      for _ in 1..<max(depth, 2) { changes.insert(Int(next() % UInt64(max(steps, 1)))) }
    }

    /// SplitMix64.
    private mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }

    mutating func pick(_ members: MemberSet) -> Int {
      members.dropFirst(Int(next() % UInt64(members.count))).first { _ in true } ?? 0
    }

    private mutating func demote(_ member: Int) {
      lowest -= 1
      values[member] = lowest
    }

    mutating func choose(_ choice: Choice) -> Int {
      for member in choice.ready.union(choice.timed) where values[member] == 0 {
        values[member] = Int64(next() >> 2) + 1
      }
      if choice.givesWay { demote(choice.current) }
      if changes.contains(choice.step) {
        demote(choice.current)
        // The time that somebody waits may be over just now.
        if !choice.timed.isEmpty, next() % 2 == 0 { return pick(choice.timed) }
      }
      return choice.ready.max { values[$0] < values[$1] } ?? choice.usual
    }
  }
#endif
