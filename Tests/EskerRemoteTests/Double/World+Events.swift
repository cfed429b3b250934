import EskerTestSupport

@testable import EskerRemote

/// How often faults may happen in one history; most have few kinds.
struct Budget {
  var cuts = 0
  var stops = 0
  var isolations = 0
  var failovers = 0
  var migrations = 0
  var restarts = 0
  var givenUp = 0
  var silences = 0
  var scripts = false
  /// Whether writes are queued.
  var queues = false
  var removals = false
  /// Whether there are reads that take what is not trusted.
  var readsBounded = false
  /// Whether tasks take long to be run, so that many wait.
  var slowTasks = false

  init(_ random: inout SeededGenerator) {
    if random.oneIn(3) { cuts = 2 }
    if random.oneIn(3) { stops = 1 }
    if random.oneIn(4) { isolations = 1 }
    if stops + isolations > 0 { failovers = 1 }
    if random.oneIn(5) { migrations = 2 }
    if random.oneIn(6) { restarts = 1 }
    if random.oneIn(3) { givenUp = 2 }
    if random.oneIn(3) { silences = 3 }
    scripts = random.oneIn(3)
    slowTasks = random.oneIn(3)
    removals = random.oneIn(3)
  }
}

extension Budget {
  /// Gives a planted error room to show.
  mutating func focus(on plant: Plant) {
    switch plant {
    case .trustQueued: queues = true
    case .none, .noFence, .twoWrites, .trustAtSend, .unusedReply, .leaseFromQuestion: break
    case .noOrder: slowTasks = true
    case .keepEpoch, .lateTracking, .noKill: cuts = 2
    case .persistTrust: restarts = 1
    case .forgetOnTimeout: (givenUp, migrations) = (3, 2)
    case .ignoreEcho: scripts = true
    case .keepReplaced: (readsBounded, scripts) = (true, true)
    case .neverDoubt: (readsBounded, givenUp) = (true, 3)
    case .fillWhileSuspended: (silences, cuts) = (3, 1)
    case .pingLease, .counterVersion: (isolations, failovers) = (1, 1)
    case .noRecheck, .leaseAtReceipt: (stops, failovers, silences) = (1, 1, 3)
    }
  }
}

extension World {
  private enum Event: CaseIterable {
    case execute, deliver, flush, task, logWrite, read, write, connect, heartbeat, askMajority, time, silence, replicate
    case cut, stop, isolate, failOver, wake, heal, demote, migrate, orphan, giveUp, restart
    case queue, replay, readBounded
  }

  private static let weighted: [Event] = {
    let weights: [(Event, Int)] = [
      (.execute, 30), (.deliver, 30), (.flush, 14), (.task, 20), (.logWrite, 5), (.read, 16), (.write, 6),
      (.connect, 12),
      (.heartbeat, 7), (.askMajority, 8), (.time, 8), (.silence, 1), (.replicate, 6), (.cut, 1), (.stop, 2),
      (.isolate, 1), (.failOver, 5), (.wake, 2), (.heal, 1), (.demote, 3), (.migrate, 1), (.orphan, 4), (.giveUp, 2),
      (.restart, 1),
    ]
    return weights.flatMap { Array(repeating: $0.0, count: $0.1) }
  }()

  private static let weightedWithQueues: [Event] =
    weighted + Array(repeating: .queue, count: 6) + Array(repeating: .replay, count: 12)

  /// Runs a history; whether all promises were kept.
  func run(steps: Int) -> Bool {
    var step = 0
    var weighted = budget.queues ? Self.weightedWithQueues : Self.weighted
    if budget.readsBounded { weighted += Array(repeating: .readBounded, count: 8) }
    while step < steps, violation == nil {
      let event = weighted[Int.random(in: 0..<weighted.count, using: &random)]
      if happen(event) {
        step += 1
        checkTrust()
      }
    }
    if violation == nil { settle() }
    return violation == nil
  }

  private func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  private func happen(_ event: Event) -> Bool {
    switch event {
    case .execute: return executeOne()
    case .deliver: return deliverOne()
    case .flush:
      guard let node = pick(nodes.indices.filter { !nodes[$0].pending.isEmpty && !nodes[$0].isStopped }) else {
        return false
      }
      flush(node)
    case .task:
      if budget.slowTasks, !random.oneIn(4) { return false }
      guard let process = pick(processes.filter { !$0.tasks.isEmpty }) else { return false }
      let index = Int.random(in: 0..<process.tasks.count, using: &random)
      log("p\(process.number) runs a task")
      process.tasks.remove(at: index)()
    case .logWrite:
      guard let process = pick(processes.filter { !$0.logWrites.isEmpty }) else { return false }
      log("p\(process.number) writes its log")
      process.logWrites.removeFirst()()
    case .read:
      guard let process = pick(processes), process.reading < 4 else { return false }
      let key = Int.random(in: 0..<keyCount, using: &random)
      log("p\(process.number) reads \(key)")
      process.read(key)
    case .readBounded:
      guard let process = pick(processes) else { return false }
      let key = Int.random(in: 0..<keyCount, using: &random)
      log("p\(process.number) reads what it has of \(key)")
      return process.readBounded(key)
    case .write:
      guard let process = pick(processes), process.writing < 3 else { return false }
      let key = Int.random(in: 0..<keyCount, using: &random)
      // What is queued comes first.
      if process.queued[key] != nil { return false }
      log("p\(process.number) writes \(lastContent + 1) to \(key)")
      process.write(
        key,
        isScript: budget.scripts && random.oneIn(2),
        isRemoval: budget.removals && random.oneIn(3)
      )
    case .queue:
      guard let process = pick(processes) else { return false }
      let key = Int.random(in: 0..<keyCount, using: &random)
      log("p\(process.number) queues \(lastContent + 1) to \(key)")
      process.queue(key, isRemoval: budget.removals && random.oneIn(3))
    case .replay:
      let ready = processes.flatMap { process in
        process.queued.keys.sorted().filter { process.queued[$0]?.isUnderWay == false }.map { (process, $0) }
      }
      guard let (process, key) = pick(ready) else { return false }
      log("p\(process.number) replays \(process.queued[key]?.content ?? 0) to \(key)")
      process.replay(key)
    case .connect: return connectOne()
    case .heartbeat:
      guard let connection = pick(live().filter { $0.heartbeatsUnderWay == 0 && !$0.mustAsk }) else { return false }
      log("p\(connection.client) asks n\(connection.node) for a lease")
      processes[connection.client].store.heartbeat(connection.id)
    case .askMajority:
      guard let connection = pick(live().filter { $0.mustAsk }) else { return false }
      log("p\(connection.client) asks the majority about n\(connection.node)")
      processes[connection.client].store.askMajority(connection.id)
    case .time: pass(UInt64.random(in: 1...300, using: &random))
    case .silence:
      guard budget.silences > 0 else { return false }
      budget.silences -= 1
      pass(UInt64.random(in: 1_400...3_500, using: &random))
    case .replicate:
      guard let node = pick(nodes.indices.filter { nodes[$0].role == .primary }) else { return false }
      replicate(node)
    default: return happenBadly(event)
    }
    return true
  }

  private func happenBadly(_ event: Event) -> Bool {
    switch event {
    case .cut:
      guard budget.cuts > 0, let connection = pick(live()) else { return false }
      budget.cuts -= 1
      log("connection \(connection.id) of p\(connection.client) to n\(connection.node) is cut")
      processes[connection.client].store.lose(connection.id)
    case .stop:
      guard budget.stops > 0,
        let node = pick(nodes.indices.filter { nodes[$0].role == .primary && nodes[$0].lostAt == nil })
      else { return false }
      budget.stops -= 1
      nodes[node].isStopped = true
      nodes[node].lostAt = now
      log("n\(node) stops")
    case .isolate:
      guard budget.isolations > 0,
        let node = pick(nodes.indices.filter { nodes[$0].role == .primary && nodes[$0].lostAt == nil })
      else { return false }
      budget.isolations -= 1
      nodes[node].role = .down
      nodes[node].lostAt = now
      log("n\(node) is cut off from the others")
    case .failOver:
      guard budget.failovers > 0, let node = pick(nodes.indices.filter { nodes[$0].lostAt != nil }) else {
        return false
      }
      if random.oneIn(2) { pass(Self.nodeTimeout / 1_000_000 / 2) }
      guard failOver(node) else { return true }
      budget.failovers -= 1
      log("n\(node ^ 1) takes over from n\(node)")
    case .wake:
      guard let node = pick(nodes.indices.filter { nodes[$0].isStopped }) else { return false }
      nodes[node].isStopped = false
      if authority.contains(node) { nodes[node].lostAt = nil }
      log("n\(node) wakes")
    case .heal:
      guard let node = pick(nodes.indices.filter { nodes[$0].role == .down && authority.contains($0) }) else {
        return false
      }
      nodes[node].role = .primary
      nodes[node].lostAt = nil
      log("n\(node) is back")
    case .demote:
      guard let node = pick(nodes.indices.filter { nodes[$0].lostAt != nil || !authority.contains($0) }), demote(node)
      else { return false }
      log("n\(node) becomes a replica")
    case .migrate:
      guard budget.migrations > 0, authority.count > 1 else { return false }
      let domain = Int.random(in: 0..<authority.count, using: &random)
      guard let target = pick(nodes.indices.filter { authority.contains($0) && $0 != authority[domain] }),
        migrate(domain, to: target)
      else { return false }
      budget.migrations -= 1
      log("domain \(domain) moves to n\(target)")
    case .orphan:
      // In order by connection.
      var seen: Set<Int> = []
      let ready = orphans.indices.filter {
        seen.insert(orphans[$0].connection).inserted && !nodes[orphans[$0].node].isStopped
      }
      guard let index = pick(ready) else { return false }
      let orphan = orphans.remove(at: index)
      log("n\(orphan.node) executes \(orphan.request) of a cut connection")
      perform(orphan.request, on: orphan.node, by: orphan.connection, of: orphan.client, isLive: false)
    case .giveUp:
      guard budget.givenUp > 0, let process = pick(processes),
        let ticket = pick(process.store.tickets.filter { $0.write != nil && !$0.isGivenUp && $0.connection >= 0 })
      else { return false }
      budget.givenUp -= 1
      log("p\(process.number) gives up a write")
      process.store.giveUp(ticket)
    case .restart:
      guard budget.restarts > 0, let process = pick(processes) else { return false }
      budget.restarts -= 1
      log("p\(process.number) restarts")
      process.restart()
    default: return false
    }
    return true
  }

  private func live() -> [Connection] { connections.keys.sorted().compactMap { connections[$0] } }

  private func executeOne() -> Bool {
    guard let connection = pick(live().filter { !$0.out.isEmpty && !nodes[$0.node].isStopped }) else { return false }
    execute(connection.id)
    return true
  }

  private func deliverOne() -> Bool {
    guard let connection = pick(live().filter { !$0.messages.isEmpty }) else { return false }
    deliver(connection)
    return true
  }

  /// The first message of a connection arrives.
  private func deliver(_ connection: Connection) {
    let message = connection.messages[0]
    connections[connection.id]?.messages.removeFirst()
    log("p\(connection.client) is told \(message) by n\(connection.node)")
    processes[connection.client].store.receive(message, on: connection.id)
  }

  /// All that is under way happens.
  func calm() {
    while happen(.connect) || happen(.execute) || happen(.flush) || happen(.deliver) || happen(.task) {}
  }

  /// A server executes what waits on a connection, and what it has said by then arrives.
  func exchange(_ id: Int) {
    while connections[id]?.out.isEmpty == false { execute(id) }
    while let connection = connections[id], !connection.messages.isEmpty { deliver(connection) }
  }

  private func connectOne() -> Bool {
    var missing: [(Process, Int)] = []
    for process in processes {
      var known = Set(authority)
      if plant == .noRecheck { known.formUnion(process.store.owners) }
      if plant == .pingLease { known = Set(process.store.owners) }
      for node in known.sorted() where process.store.connections[node] == nil { missing.append((process, node)) }
    }
    guard let (process, node) = pick(missing) else { return false }
    log("p\(process.number) connects to n\(node)")
    process.store.connect(to: node)
    return true
  }

  /// Time passes, and every client notices.
  func pass(_ milliseconds: UInt64) {
    // An event loop takes no time to speak of.
    for node in nodes.indices where !nodes[node].isStopped && !nodes[node].pending.isEmpty { flush(node) }
    now += milliseconds * 1_000_000
    for connection in live() { processes[connection.client].store.noticeTime(connection.id) }
  }

  /// Faults end: everything is executed and told. Then nothing may be waited for, and what is trusted is what is there.
  private func settle() {
    log("faults end")
    budget = Budget(calm: ())
    if plant == .pingLease { for process in processes { process.store.refresh() } }
    for node in nodes.indices {
      nodes[node].isStopped = false
      if authority.contains(node) {
        nodes[node].role = .primary
        nodes[node].lostAt = nil
      } else if !demote(node), nodes[node].role != .replica {
        nodes[node].role = .primary
        nodes[node].lostAt = nil
      }
    }
    for round in 0..<80 where violation == nil {
      while violation == nil, happen(.orphan) || happen(.execute) || happen(.flush) || happen(.deliver) || happen(.task)
      {}
      while happen(.logWrite) || happen(.connect) || happen(.askMajority) || happen(.replay) {}
      checkTrust()
      let isIdle = processes.allSatisfy {
        $0.reading == 0 && $0.writing == 0 && $0.store.tickets.isEmpty && $0.queued.isEmpty
      }
      if isIdle, round > 2 { return checkEnd() }
      pass(100)
      for _ in 0..<8 { _ = happen(.heartbeat) }
    }
    if violation == nil {
      fail(
        "operations never end: \(processes.map { ($0.reading, $0.writing, $0.store.tickets.count, $0.store.held.count) })"
      )
    }
  }

  private func checkEnd() {
    for process in processes {
      if process.core.state.withLock({
        $0.active.count + $0.abandoned.count + $0.confirming.count + $0.waitingCount + $0.held.count
      }) != 0 {
        fail("process \(process.number) still keeps something of operations that have ended")
      }
      for key in 0..<keyCount {
        guard let stored = process.trusted(key) else { continue }
        let truth = nodes[authority[key % authority.count]].stored(key)
        if stored.content != truth.content, stored.value != nil || truth.value != nil {
          fail("process \(process.number) trusts \(stored.content) of key \(key) in the end; it is \(truth.content)")
        }
      }
    }
  }
}

extension Budget {
  /// No faults.
  init(calm: Void) {}
}
