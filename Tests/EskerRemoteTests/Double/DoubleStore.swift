import EskerLog

@testable import EskerRemote

/// A client of the simulated cluster, as the seam wants it. Every message is sent, executed and received when the world says so.
final class DoubleStore: RemoteStore, @unchecked Sendable {
  unowned let world: World
  let client: Int
  var sink: (any RemoteSink)?
  /// Who serves each domain, as far as is known.
  var owners: [Int]
  var generations: [UInt32]
  var lastGeneration: UInt32 = 0
  /// The connection to each node.
  var connections: [Int: Int] = [:]
  /// Former connections that the server may still know: the connection that was to end one may have been cut before it did.
  var former: [Int: [Int]] = [:]
  /// Requests that wait for a lease.
  var held: [Request] = []
  var tickets: [Ticket] = []

  init(_ world: World, client: Int) {
    self.world = world
    self.client = client
    owners = world.authority
    generations = Array(repeating: 0, count: world.authority.count)
  }

  var domainCount: Int { world.authority.count }
  var valueLimit: Int { 1 << 20 }

  func start(prefix: [UInt8], sink: any RemoteSink) async throws(RemoteError) { begin(sink) }

  func begin(_ sink: any RemoteSink) {
    self.sink = sink
    for domain in owners.indices { raise(domain) }
  }

  func stop() async {}

  static func number(_ key: RawSpan) -> Int { Int(key.byteCount) - 1 }

  func domain(of key: RawSpan) -> UInt16 { UInt16(Self.number(key) % domainCount) }

  func time(of domain: UInt16) -> ServerTime? {
    ServerTime(milliseconds: world.now / 1_000_000, at: RemoteInstant(nanoseconds: world.now), error: .zero)
  }

  // MARK: Requests

  private func ticket(_ key: RemoteKey, _ write: RemoteWriteID? = nil) -> Ticket {
    let ticket = Ticket(key: key.bytes.count - 1, write: write)
    tickets.append(ticket)
    return ticket
  }

  func get(
    _ key: RemoteKey,
    from source: RemoteSource,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteValue?>
  ) {
    let ticket = ticket(key)
    ticket.read = completion
    submit(.get(ticket))
  }

  func check(
    _ key: RemoteKey,
    _ version: RemoteVersion,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteChecked>
  ) {
    let ticket = ticket(key)
    ticket.checked = completion
    submit(.check(ticket, version))
  }

  private func write(
    _ key: RemoteKey,
    _ action: RemoteAction,
    _ id: RemoteWriteID,
    _ deadline: RemoteInstant,
    _ completion: @escaping RemoteCompletion<RemoteWritten>
  ) {
    let ticket = ticket(key, id)
    ticket.written = { result in
      completion(
        result.flatMap { stamped in
          guard case .written(let written) = stamped.reply else { return .failure(.unsupported("that")) }
          return .success(Stamped(written, at: stamped.stamp, isKeepable: stamped.isKeepable))
        }
      )
    }
    submit(.write(ticket, action, content: World.content(of: deadline)))
  }

  func set(
    _ key: RemoteKey,
    _ value: RemoteValue,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) { self.write(key, .set(value, condition), write, deadline, completion) }

  func remove(
    _ key: RemoteKey,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) { self.write(key, .remove(condition), write, deadline, completion) }

  func touch(
    _ key: RemoteKey,
    _ envelope: RemoteEnvelope,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) { self.write(key, .touch(envelope, condition), write, deadline, completion) }

  func apply(
    _ key: RemoteKey,
    _ intent: RemoteIntent,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteApplied>
  ) {
    let ticket = ticket(key, write)
    ticket.written = { result in
      completion(
        result.flatMap { stamped in
          guard case .applied(let applied) = stamped.reply else { return .failure(.unsupported("that")) }
          return .success(Stamped(applied, at: stamped.stamp, isKeepable: stamped.isKeepable))
        }
      )
    }
    submit(.write(ticket, .apply(intent), content: World.content(of: deadline)))
  }

  // MARK: Sending

  /// Sends under a lease; otherwise the request waits for one.
  func submit(_ request: Request) {
    let ticket: Ticket
    switch request {
    case .get(let one), .check(let one, _), .write(let one, _, _): ticket = one
    default: return
    }
    let domain = ticket.key % domainCount
    ticket.connection = -1
    guard let id = connections[owners[domain]], let connection = world.connections[id],
      world.now < connection.leaseEnd, !connection.mustAsk
    else { return held.append(request) }
    ticket.generation = generations[domain]
    ticket.connection = id
    world.connections[id]?.out.append(request)
    if world.plant == .lateTracking, !connection.isTracking,
      !connection.out.contains(where: { if case .track = $0 { true } else { false } })
    {
      world.connections[id]?.out.append(.track)
    }
  }

  func sendHeld() {
    let requests = held
    held = []
    for request in requests { submit(request) }
  }

  // MARK: Domains

  func raise(_ domain: Int) {
    lastGeneration += 1
    generations[domain] = lastGeneration
    sink?.raised(UInt16(domain)..<UInt16(domain + 1), to: lastGeneration)
  }

  func domains(of node: Int) -> [Int] { owners.indices.filter { owners[$0] == node } }

  /// Asks the majority; the answer is that of all.
  func refresh() {
    for domain in owners.indices where owners[domain] != world.authority[domain] {
      owners[domain] = world.authority[domain]
      raise(domain)
    }
  }

  func connect(to node: Int) {
    if world.plant != .noRecheck, world.plant != .pingLease { refresh() }
    let id = world.open(node, client)
    connections[node] = id
    for domain in domains(of: node) { raise(domain) }
    if world.plant != .noKill {
      for old in former[node] ?? [] { world.connections[id]?.out.append(.kill(old)) }
    }
    if world.plant != .lateTracking { world.connections[id]?.out.append(.track) }
    heartbeat(id)
  }

  func heartbeat(_ id: Int) {
    world.connections[id]?.heartbeatsUnderWay += 1
    let question = Question(sent: world.now, former: world.connections[id]?.answered)
    world.connections[id]?.out.append(.heartbeat(question, isPing: world.plant == .pingLease))
  }

  /// The lease of a connection is over: the others have to be asked before it counts again.
  func noticeTime(_ id: Int) {
    guard let connection = world.connections[id], connection.leaseEnd != 0, world.now >= connection.leaseEnd,
      !connection.mustAsk
    else { return }
    world.connections[id]?.mustAsk = world.plant != .noRecheck
    for domain in domains(of: connection.node) { sink?.suspended(UInt16(domain)..<UInt16(domain + 1)) }
  }

  func askMajority(_ id: Int) {
    guard let connection = world.connections[id] else { return }
    let isOwner = domains(of: connection.node).allSatisfy { world.authority[$0] == connection.node }
    guard isOwner, !world.isLost(connection.node) || world.plant == .pingLease else {
      // The others say that it has failed, or know another owner.
      if !isOwner { lose(id) }
      return
    }
    world.connections[id]?.mustAsk = false
    world.connections[id]?.leaseEnd = 0
    heartbeat(id)
  }

  /// The connection is gone: first the raise, then the completions, then the settlings.
  func lose(_ id: Int) {
    guard let connection = world.close(id) else { return }
    connections[connection.node] = nil
    former[connection.node, default: []].append(id)
    for domain in domains(of: connection.node) { raise(domain) }
    let gone = tickets.filter { $0.connection == id }
    tickets.removeAll { $0.connection == id }
    for ticket in gone {
      if ticket.isGivenUp {
        if let write = ticket.write { sink?.settled(write, .lost) }
        continue
      }
      ticket.read?(.failure(.timedOut))
      ticket.checked?(.failure(.timedOut))
      if let write = ticket.write {
        ticket.written?(.failure(.unknownOutcome))
        sink?.settled(write, .lost)
      }
    }
    refresh()
  }

  // MARK: Receiving

  func receive(_ message: Message, on id: Int) {
    guard let connection = world.connections[id] else { return }
    world.connections[id]?.index += 1
    let index = connection.index + 1
    noticeTime(id)
    switch message {
    case .changed(let keys):
      for key in keys {
        let domain = key % domainCount
        if owners[domain] != connection.node {
          // Indices of two connections do not compare.
          raise(domain)
          refresh()
        }
        let stamp = RemoteStamp(generation: generations[domain], index: index)
        World.bytes(key).withBytes { sink?.changed($0, domain: UInt16(domain), at: stamp) }
      }
    case .flushed:
      for domain in domains(of: connection.node) { raise(domain) }
      refresh()
    case .heartbeat(let question, let loop, let served):
      world.connections[id]?.heartbeatsUnderWay -= 1
      world.connections[id]?.answered = Question.Former(sent: question.sent, loop: loop)
      guard world.connections[id]?.mustAsk == false, let served else { return }
      guard question.sent + World.lease > world.now || world.plant == .leaseAtReceipt else {
        world.connections[id]?.mustAsk = world.plant != .noRecheck
        return
      }
      let begin: UInt64? =
        switch world.plant {
        case .leaseAtReceipt: world.now
        case .leaseFromQuestion: question.sent
        default: question.former?.sent
        }
      guard let begin, begin + World.lease > world.now else { return heartbeat(id) }
      let end = begin + World.lease
      world.connections[id]?.leaseEnd = max(end, connection.leaseEnd)
      for domain in domains(of: connection.node) where served.contains(domain) || world.plant == .pingLease {
        sink?.trusted(
          UInt16(domain)..<UInt16(domain + 1),
          in: generations[domain],
          until: RemoteInstant(nanoseconds: end)
        )
      }
      if Set(domains(of: connection.node)) != served, world.plant != .pingLease { refresh() }
      sendHeld()
    case .value(let ticket, let stored):
      finish(ticket)
      let stamp = RemoteStamp(generation: ticket.generation, index: index)
      let isKeepable = isLeased(id)
      ticket.read?(.success(Stamped(stored.value, at: stamp, isKeepable: isKeepable)))
      ticket.checked?(.success(Stamped(.changed(stored.value), at: stamp, isKeepable: isKeepable)))
    case .same(let ticket):
      finish(ticket)
      let stamp = RemoteStamp(generation: ticket.generation, index: index)
      ticket.checked?(.success(Stamped(.same, at: stamp, isKeepable: isLeased(id))))
    case .written(let ticket, let outcome, _):
      finish(ticket)
      let stamp = RemoteStamp(generation: ticket.generation, index: index)
      if ticket.isGivenUp, let write = ticket.write {
        let told: RemoteOutcome =
          switch outcome {
          case .written(let written): .answered(written, at: stamp)
          case .applied(let applied): .applied(applied, at: stamp)
          }
        sink?.settled(write, told)
      } else {
        ticket.written?(.success(Stamped(outcome, at: stamp, isKeepable: isLeased(id))))
      }
    case .moved(_, let request):
      refresh()
      submit(request)
    case .refused(let ticket):
      refuse(ticket)
    }
  }

  private func isLeased(_ id: Int) -> Bool {
    guard let connection = world.connections[id] else { return false }
    return world.now < connection.leaseEnd && !connection.mustAsk
  }

  private func refuse(_ ticket: Ticket) {
    finish(ticket)
    if ticket.isGivenUp {
      if let write = ticket.write { sink?.settled(write, .notExecuted) }
      return
    }
    ticket.read?(.failure(.unavailable(until: nil)))
    ticket.checked?(.failure(.unavailable(until: nil)))
    ticket.written?(.failure(.notExecuted("CLUSTERDOWN")))
  }

  private func finish(_ ticket: Ticket) { tickets.removeAll { $0 === ticket } }

  /// The caller of a write gives up.
  func giveUp(_ ticket: Ticket) {
    ticket.isGivenUp = true
    ticket.written?(.failure(.unknownOutcome))
  }
}
