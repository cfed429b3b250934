#if Redis
  /// What the nodes of a cluster answered when all were asked who owns what.
  struct ClusterVote {
    /// Who claims a slot, and at what epoch. The highest epoch wins.
    struct Claim: Hashable {
      var epoch: UInt64
      var id: String
    }

    private(set) var claims: [Claim?] = Array(repeating: nil, count: HashSlot.count)
    private(set) var addresses: [String: RedisAddress] = [:]
    private(set) var epochs: [String: UInt64] = [:]
    /// Primaries by all answers, with or without slots.
    private(set) var primaries: Set<String> = []
    /// Held by one answer at least to have failed, which takes a majority.
    private(set) var failed: Set<String> = []
    private(set) var moving: Set<Int> = []
    /// The replicas of each primary.
    private(set) var replicas: [String: [RedisAddress]] = [:]
    private(set) var answered: Set<String> = []

    init(_ views: [[ClusterNode]]) {
      for view in views { add(view) }
      // Who is a primary is said by itself, if it has answered.
      for view in views {
        for node in view where node.isMyself {
          if node.isPrimary { primaries.insert(node.id) } else { primaries.remove(node.id) }
          if let address = node.address { addresses[node.id] = address }
        }
      }
      primaries.formUnion(owners)
    }

    /// Those that own slots.
    var owners: Set<String> { Set(claims.compactMap { $0?.id }) }

    /// Whether more than half of the owners have answered.
    var isMajority: Bool {
      let owners = owners
      return !owners.isEmpty && answered.intersection(owners).count * 2 > owners.count
    }

    private mutating func add(_ view: [ClusterNode]) {
      for node in view {
        if let address = node.address { addresses[node.id] = address }
        if node.isMyself {
          answered.insert(node.id)
          moving.formUnion(node.moving.map(Int.init))
        }
        if node.hasFailed { failed.insert(node.id) }
        if node.isReplica, let primary = node.primary, let address = node.address, !node.hasFailed {
          if replicas[primary]?.contains(address) != true { replicas[primary, default: []].append(address) }
        }
        guard node.isPrimary else { continue }
        primaries.insert(node.id)
        epochs[node.id] = max(epochs[node.id] ?? 0, node.epoch)
        for range in node.slots {
          for slot in range where node.epoch >= claims[Int(slot)]?.epoch ?? 0 {
            claims[Int(slot)] = Claim(epoch: node.epoch, id: node.id)
          }
        }
      }
    }
  }
#endif
