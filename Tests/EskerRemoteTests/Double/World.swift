import EskerTestSupport

@testable import EskerRemote

/// A cluster, its clients and their time, in one thread: one event after the other, chosen by a seed.
///
/// After each event, what a process trusts must be what the owner has, unless it will be told; no read may go back in the history that
/// survives; a write that was given up never takes effect after a newer one; and what is served was current a lease ago or later.
final class World: @unchecked Sendable {
  static let lease: UInt64 = 1_500_000_000
  /// After which another node may take over.
  static let nodeTimeout: UInt64 = 3_000_000_000

  let plant: Plant
  var random: SeededGenerator
  var now: UInt64 = 1_000_000_000_000
  var nodes: [Node]
  /// The true owner of each domain.
  var authority: [Int]
  var connections: [Int: Connection] = [:]
  var lastConnection = 0
  /// Requests of cut connections that the servers still hold, in order by connection.
  var orphans: [(connection: Int, node: Int, client: Int, request: Request)] = []
  var processes: [Process] = []
  let keyCount: Int
  var lastContent = 0
  var removals: Set<Int> = []
  /// The removals that took effect somewhere, by key.
  var removed: [Int: Set<Int>] = [:]
  var scripts: Set<Int> = []
  /// What a server's counter made of a write, if that error is planted.
  var counted: [Int: RemoteValue] = [:]
  /// What the true owner had, and since when.
  var timeline: [Int: [(stored: Stored, since: UInt64)]] = [:]
  private(set) var violation: String?
  var isTracing = false
  private(set) var trace: [String] = []
  var budget: Budget

  init(seed: UInt64, plant: Plant) {
    random = SeededGenerator(seed: seed)
    self.plant = plant
    keyCount = plant == .none ? Int.random(in: 1...3, using: &random) : 1
    let domainCount = plant == .forgetOnTimeout ? 2 : Int.random(in: 1...2, using: &random)
    let shards = domainCount
    nodes = []
    authority = []
    for shard in 0..<shards {
      nodes.append(Node(role: .primary, domains: [shard]))
      nodes.append(Node(role: .replica, domains: []))
      authority.append(shard * 2)
    }
    budget = Budget(&random)
    budget.focus(on: plant)
    if plant == .none { budget.queues = random.oneIn(3) }
    let count = plant == .none ? Int.random(in: 1...2, using: &random) : 2
    processes = (0..<count).map { Process(self, number: $0) }
    for process in processes { process.start() }
  }

  // MARK: Names

  static func bytes(_ key: Int) -> [UInt8] { [UInt8](repeating: 65, count: key + 1) }

  static func content(of value: RemoteValue?) -> Int {
    guard let payload = value?.payload, payload.count == 8 else { return 0 }
    return Int(payload.reversed().reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// The number of a write comes to the store as its deadline.
  static func content(of deadline: RemoteInstant) -> Int { Int(UInt64.max - deadline.nanoseconds) }

  static func deadline(of content: Int) -> RemoteInstant { RemoteInstant(nanoseconds: .max - UInt64(content)) }

  func nextContent() -> Int {
    lastContent += 1
    return lastContent
  }

  func log(_ text: @autoclosure () -> String) { if isTracing { trace.append("\(now / 1_000_000) \(text())") } }

  func fail(_ text: String) { if violation == nil { violation = text } }

  // MARK: Connections

  func open(_ node: Int, _ client: Int) -> Int {
    lastConnection += 1
    connections[lastConnection] = Connection(id: lastConnection, node: node, client: client)
    return lastConnection
  }

  /// What was sent may still be executed.
  func close(_ id: Int) -> Connection? {
    guard let connection = connections.removeValue(forKey: id) else { return nil }
    for request in connection.out where request.isWrite {
      orphans.append((id, connection.node, connection.client, request))
    }
    return connection
  }

  func isLost(_ node: Int) -> Bool {
    guard let at = nodes[node].lostAt else { return false }
    return nodes[node].role == .down || nodes[node].isStopped && now > at + Self.nodeTimeout
  }

  // MARK: Checks

  func checkRead(_ process: Process, _ key: Int, _ stored: Stored, _ floor: Set<Int>) {
    let owner = nodes[authority[key % authority.count]]
    // Which time of several was read, or whether any later one has been, is not seen.
    let newest = floor.compactMap { owner.positions(of: $0, key)?.first }.max() ?? -1
    let history = owner.history[key] ?? []
    let position: Int?
    if stored.value == nil {
      // Which removal it was is not seen; one that was lost is no error.
      let isLost = removed[key]?.contains { !history.contains($0) } ?? false
      position = isLost ? nil : history.lastIndex { removals.contains($0) } ?? -1
    } else {
      position = owner.positions(of: stored.content, key)?.last
    }
    if let position, position < newest {
      fail("process \(process.number) read \(stored.content) of key \(key) after \(floor.sorted()) in \(history)")
    }
  }

  /// What is served without asking was current a lease ago, or later.
  func checkAge(_ process: Process, _ key: Int, _ stored: Stored) {
    let spans = timeline[key] ?? [(Stored(value: nil, content: 0), 0)]
    for (index, span) in spans.enumerated() {
      let isSame = stored.value == nil ? span.stored.value == nil : span.stored.content == stored.content
      if isSame, index + 1 == spans.count || spans[index + 1].since + Self.lease >= now { return }
    }
    fail("process \(process.number) was served \(stored.content) of key \(key), which was replaced long ago")
  }

  func noteTruth(_ key: Int) {
    let stored = nodes[authority[key % authority.count]].stored(key)
    var spans = timeline[key] ?? [(Stored(value: nil, content: 0), 0)]
    if spans[spans.count - 1].stored.content != stored.content { spans.append((stored, now)) }
    timeline[key] = spans
  }

  /// What is trusted is what the owner has, or the process will be told. Of a key with a queued write nothing is.
  func checkTrust() {
    for process in processes {
      for key in 0..<keyCount {
        if let queued = process.queued[key] {
          let version = process.log[key]?.value?.version
          let remote = RemoteKey(Self.bytes(key), domain: UInt16(key % authority.count))
          if process.trusted(key) != nil || version.map({ process.core.isVerified(remote, $0) }) == true {
            fail("process \(process.number) trusts what it has of key \(key) while \(queued.content) waits")
          }
        }
        let domain = key % authority.count
        let owner = authority[domain]
        var held: [Stored] = []
        if let stored = process.trusted(key) { held.append(stored) }
        if process.memory.copies[key] == nil, let stored = process.log[key], let version = stored.value?.version,
          process.core.isVerified(RemoteKey(Self.bytes(key), domain: UInt16(domain)), version)
        {
          held.append(stored)
        }
        guard !held.isEmpty, process.store.owners[domain] == owner, let id = process.store.connections[owner],
          let connection = connections[id]
        else { continue }
        let truth = nodes[owner].stored(key)
        for stored in held where stored.content != truth.content && (stored.value != nil || truth.value != nil) {
          let writer = nodes[owner].pending[key]
          let willBeTold =
            connection.isTracking && writer != nil && writer != id
            || connection.messages.contains { message in
              switch message {
              case .changed(let keys): keys.contains(key)
              case .flushed: true
              default: false
              }
            }
          if !willBeTold {
            fail(
              "process \(process.number) trusts \(stored.content) of key \(key); it is \(truth.content), and nobody will tell"
            )
          }
        }
      }
    }
  }
}
