@testable import EskerRemote

// What servers do.
extension World {
  /// Executes the next request of a connection.
  func execute(_ id: Int) {
    guard var connection = connections[id], !connection.out.isEmpty else { return }
    let request = connection.out.removeFirst()
    connections[id] = connection
    log("n\(connection.node) executes \(request) of p\(connection.client), connection \(id)")
    perform(request, on: connection.node, by: id, of: connection.client, isLive: true)
  }

  func perform(_ request: Request, on number: Int, by id: Int, of client: Int, isLive: Bool) {
    let node = nodes[number]
    switch request {
    case .track: connections[id]?.isTracking = true
    case .kill(let old): orphans.removeAll { $0.connection == old }
    case .heartbeat(let question, let isPing):
      // The answer to the former one went out at the end of its event loop, so this one is of a later loop.
      if question.former?.loop == node.loops { flush(number) }
      let isServing = node.role == .primary
      let domains = isServing ? node.domains : isPing ? Set(authority.indices) : nil
      connections[id]?.messages.append(.heartbeat(question, loop: nodes[number].loops, domains: domains))
    case .get(let ticket):
      guard answers(ticket, request, node, id) else { return }
      connections[id]?.messages.append(.value(ticket, node.stored(ticket.key)))
    case .check(let ticket, let version):
      guard answers(ticket, request, node, id) else { return }
      let stored = node.stored(ticket.key)
      connections[id]?.messages.append(stored.value?.version == version ? .same(ticket) : .value(ticket, stored))
    case .write(let ticket, let action, let content):
      guard !isLive || answers(ticket, request, node, id) else { return }
      guard node.role == .primary, node.domains.contains(ticket.key % authority.count) else { return }
      let outcome = change(ticket.key, action, content, on: number, by: id, of: client, isLive: isLive)
      if isLive {
        connections[id]?.messages.append(.written(ticket, outcome, isScript: scripts.contains(content)))
      }
    }
  }

  /// Whether a node serves the key; otherwise it says so.
  private func answers(_ ticket: Ticket, _ request: Request, _ node: Node, _ id: Int) -> Bool {
    let isServed = node.domains.contains(ticket.key % authority.count)
    if node.role == .primary, isServed { return true }
    connections[id]?.messages.append(node.role == .down && isServed ? .refused(ticket) : .moved(ticket, request))
    return false
  }

  private func change(
    _ key: Int,
    _ action: RemoteAction,
    _ content: Int,
    on number: Int,
    by id: Int,
    of client: Int,
    isLive: Bool
  ) -> WriteOutcome {
    let domain = key % authority.count
    let isOwner = authority[domain] == number
    let history = nodes[number].history[key] ?? []
    let before = nodes[number].stored(key).value
    let isScript = scripts.contains(content)
    var value: RemoteValue?
    switch action {
    case .set(let new, let condition):
      if condition == .absent, before != nil {
        return .written(.refused(before?.version.map { .version($0) } ?? .foreign))
      }
      value = new
    case .apply(let intent):
      let applied = RemoteApplied(intent, on: before.map { $0.version.map { .version($0) } ?? .foreign } ?? .absent)
      guard applied == .applied else { return .applied(applied) }
      value = intent.value
    default: value = nil
    }
    let newer = client < 0 ? [] : (processes[client].mine[key] ?? []).filter { $0 > content && history.contains($0) }
    if isOwner, !newer.isEmpty {
      fail("write \(content), given up, takes effect after \(newer.sorted())")
    }
    if plant == .counterVersion, let new = value {
      let count = UInt64(history.count + 1)
      let envelope = RemoteEnvelope(version: RemoteVersion(time: count, count: 0, writer: 0))
      value = Array(new.payload).withBytes { RemoteValue(envelope, payload: $0) }
      counted[content] = value
    }
    nodes[number].data[key] = Stored(value: value, content: content)
    if value == nil { removed[key, default: []].insert(content) }
    nodes[number].history[key, default: []].append(content)
    // The last writer of the loop counts, as in the server's table; a script is nobody's.
    nodes[number].pending[key] = isScript ? -1 : id
    if isOwner { noteTruth(key) }
    if case .apply = action { return .applied(.applied) }
    return .written(.done(isEchoed: isScript, wasThere: nil))
  }

  /// The end of an event loop: what was written is told to all who track, except the last writer.
  func flush(_ number: Int) {
    let pending = nodes[number].pending
    nodes[number].pending = [:]
    nodes[number].loops += 1
    log("n\(number) tells of \(pending.keys.sorted())")
    for id in connections.keys.sorted() where connections[id]?.node == number && connections[id]?.isTracking == true {
      let keys = pending.filter { $0.value != id }.keys.sorted()
      if !keys.isEmpty { connections[id]?.messages.append(.changed(keys)) }
    }
  }

  // MARK: Faults

  private func replica(of number: Int) -> Int { number ^ 1 }

  func replicate(_ number: Int) {
    guard nodes[number].role == .primary, !nodes[number].isStopped, nodes[number].lostAt == nil,
      nodes[replica(of: number)].role == .replica
    else { return }
    nodes[replica(of: number)].data = nodes[number].data
    nodes[replica(of: number)].history = nodes[number].history
  }

  /// The replica takes over, with what it has: writes that were not replicated are lost.
  func failOver(_ number: Int) -> Bool {
    guard let lostAt = nodes[number].lostAt, now > lostAt + Self.nodeTimeout,
      nodes[number].isStopped || nodes[number].role == .down, nodes[replica(of: number)].role == .replica,
      authority.contains(number)
    else { return false }
    let new = replica(of: number)
    nodes[new].role = .primary
    for domain in authority.indices where authority[domain] == number {
      authority[domain] = new
      nodes[new].domains.insert(domain)
    }
    for key in 0..<keyCount where authority[key % authority.count] == new { noteTruth(key) }
    return true
  }

  /// The old primary learns of the new one and takes what that has: everything is told as changed.
  func demote(_ number: Int) -> Bool {
    let new = replica(of: number)
    guard !nodes[number].isStopped, nodes[number].role != .replica, nodes[new].role == .primary,
      !authority.contains(number)
    else { return false }
    nodes[number].role = .replica
    nodes[number].lostAt = nil
    nodes[number].domains = []
    nodes[number].data = nodes[new].data
    nodes[number].history = nodes[new].history
    nodes[number].pending = [:]
    for id in connections.keys where connections[id]?.node == number && connections[id]?.isTracking == true {
      connections[id]?.messages.append(.flushed)
    }
    return true
  }

  /// A domain moves, with its keys: told at the source as they leave, and at the target as they arrive.
  func migrate(_ domain: Int, to target: Int) -> Bool {
    let source = authority[domain]
    guard source != target, nodes[source].role == .primary, nodes[target].role == .primary,
      nodes[source].lostAt == nil, nodes[target].lostAt == nil, authority.contains(target) || target % 2 == 0
    else { return false }
    for key in 0..<keyCount where key % authority.count == domain {
      guard let stored = nodes[source].data[key] else { continue }
      nodes[target].data[key] = stored
      nodes[target].history[key] = nodes[source].history[key]
      nodes[source].data[key] = nil
      nodes[source].history[key] = nil
      if stored.value != nil {
        nodes[source].pending[key] = -1
        nodes[target].pending[key] = -1
      }
    }
    nodes[source].domains.remove(domain)
    nodes[target].domains.insert(domain)
    authority[domain] = target
    // The replicas follow at once: what a move of keys loses is not modelled.
    replicate(source)
    replicate(target)
    return true
  }
}
