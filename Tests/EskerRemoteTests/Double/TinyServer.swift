import Dispatch
import EskerLog
import EskerPlatform
import EskerTestSupport

@testable import EskerRemote

/// A server with one domain that answers at once, for tests of what is above the core.
final class TinyServer: @unchecked Sendable {
  /// One event loop: what is answered and told has one order.
  let loop = DispatchQueue(label: "server")
  // Used on the loop.
  var values: [[UInt8]: RemoteValue] = [:]
  var clients: [TinyStore] = []
  /// Requests wait while it does not answer.
  var isSilent = false
  var waiting: [(client: TinyStore, perform: () -> Void, drop: () -> Void)] = []
  /// Executes replays, but does not answer them.
  var swallowsReplies = false
  /// Why replays of a key are refused.
  var refusals: [[UInt8]: RemoteError] = [:]
  /// How many replays were asked for, and what they came to.
  var replays = 0
  var replayed: [(key: [UInt8], outcome: RemoteApplied)] = []
  let clock = FakeClock()
  /// Whether what has expired counts as absent; it is told only by ``expire()``.
  var isExpiring = false

  /// On the loop: what is there now.
  func current(_ key: [UInt8]) -> RemoteValue? {
    guard let value = values[key] else { return nil }
    return isExpiring && value.expiry != 0 && value.expiry <= UInt64(clock.wallMilliseconds()) ? nil : value
  }

  /// Removes what has expired, and tells.
  func expire() {
    loop.sync {
      for key in values.keys where current(key) == nil {
        values[key] = nil
        tell(key, except: nil)
      }
    }
  }

  func store() -> TinyStore {
    let store = TinyStore(self)
    loop.sync { clients.append(store) }
    return store
  }

  var now: RemoteInstant { RemoteInstant(nanoseconds: clock.monotonicNanoseconds()) }

  /// On the loop.
  func tell(_ key: [UInt8], except writer: TinyStore?) {
    for client in clients where client !== writer {
      if client.isDeaf { client.untold.append(key) } else { client.tell(key) }
    }
  }

  /// Another program writes.
  func put(_ value: RemoteValue?, _ key: String) {
    loop.sync {
      values[Array(key.utf8)] = value
      tell(Array(key.utf8), except: nil)
    }
  }

  func setSilent(_ isSilent: Bool) {
    loop.sync {
      self.isSilent = isSilent
      guard !isSilent else { return }
      let waiting = waiting
      self.waiting = []
      for request in waiting { request.perform() }
    }
  }

  /// The process of a client is killed. What it sent and was not executed is lost, or executed by the next ``setSilent(_:)``.
  func kill(_ client: TinyStore, losingRequests: Bool) {
    loop.sync {
      clients.removeAll { $0 === client }
      client.sink = nil
      guard losingRequests else { return }
      let gone = waiting.filter { $0.client === client }
      waiting.removeAll { $0.client === client }
      for request in gone { request.drop() }
    }
  }

  func value(_ key: String) -> RemoteValue? { loop.sync { current(Array(key.utf8)) } }
}

extension TinyServer {
  /// Tiers as a process of its own would have, and their store.
  func makeTiers(isLeased: Bool = true) async throws -> (tiers: RemoteTiers, store: TinyStore) {
    let store = store()
    store.isLeased = isLeased
    let tiers = RemoteTiers(store, named: "test", prefix: "p:", 1_024, .system) { [self] in now }
    try await tiers.start()
    return (tiers, store)
  }
}

/// A client of the server.
final class TinyStore: RemoteStore, @unchecked Sendable {
  let server: TinyServer
  var sink: (any RemoteSink)?
  var generation: UInt32 = 0
  var index: UInt64 = 0
  /// What all requests come to, if there is something wrong.
  var failure: RemoteError?
  /// What writes of locks come to, if there is something wrong. They are executed if it leaves that open.
  var lockFailure: RemoteError?
  /// Whether it has a lease from the start.
  var isLeased = true
  /// Changes wait while it does not listen.
  var isDeaf = false
  var untold: [[UInt8]] = []
  /// What was asked, by kind.
  var asked: [String: Int] = [:]
  /// What a replica has, and at which instant that was current at the latest, as far as can be shown.
  var replica: (values: [[UInt8]: RemoteValue], currentAt: RemoteInstant?) = ([:], nil)
  /// By when a replica was to answer that was asked last.
  var replicaDeadline: RemoteInstant?
  /// The write that was asked for last.
  private var lastID: RemoteWriteID?
  /// The callers of replays that were executed and not answered.
  var swallowed: [() -> Void] = []

  let domainCount = 1
  let valueLimit = 1 << 20

  init(_ server: TinyServer) { self.server = server }

  func start(prefix: [UInt8], sink: any RemoteSink) async throws(RemoteError) {
    server.loop.sync { self.sink = sink }
    raise()
    if isLeased { trust(for: .seconds(1_000_000)) }
  }

  /// Completes what is under way, as it must, and refuses what comes.
  func stop() async {
    server.loop.sync {
      sink = nil
      failure = .stopped
      let gone = server.waiting.filter { $0.client === self }
      server.waiting.removeAll { $0.client === self }
      for request in gone { request.drop() }
      endSwallowed()
    }
  }

  /// The connection ends: what was executed and not answered never is.
  func cut() {
    suspend()
    server.loop.sync { endSwallowed() }
  }

  /// On the loop.
  private func endSwallowed() {
    for caller in swallowed { caller() }
    swallowed = []
  }

  func setFailure(_ failure: RemoteError?) { server.loop.sync { self.failure = failure } }

  func setLockFailure(_ failure: RemoteError?) { server.loop.sync { lockFailure = failure } }

  func raise() {
    server.loop.sync {
      generation += 1
      sink?.raised(0..<1, to: generation)
    }
  }

  func trust(for duration: Duration) {
    server.loop.sync { sink?.trusted(0..<1, in: generation, until: server.now.advanced(by: duration)) }
  }

  func suspend() { server.loop.sync { sink?.suspended(0..<1) } }

  var lastWrite: RemoteWriteID? { server.loop.sync { lastID } }

  func count(_ kind: String) -> Int { server.loop.sync { asked[kind] ?? 0 } }

  func domain(of key: RawSpan) -> UInt16 { 0 }

  func time(of domain: UInt16) -> ServerTime? {
    ServerTime(milliseconds: UInt64(server.clock.wallMilliseconds()), at: server.now, error: .zero)
  }

  func setDeaf(_ isDeaf: Bool) {
    server.loop.sync {
      self.isDeaf = isDeaf
      guard !isDeaf else { return }
      for key in untold { tell(key) }
      untold = []
    }
  }

  /// On the loop.
  func tell(_ key: [UInt8]) {
    let stamp = stamp()
    key.withBytes { sink?.changed($0, domain: 0, at: stamp) }
  }

  /// On the loop.
  func stamp() -> RemoteStamp {
    index += 1
    return RemoteStamp(generation: generation, index: index)
  }

  private func request<Reply: Sendable>(
    _ kind: String,
    _ completion: @escaping RemoteCompletion<Reply>,
    _ body: @escaping @Sendable () throws(RemoteError) -> Reply?
  ) {
    server.loop.async { [self] in
      asked[kind, default: 0] += 1
      if let failure { return completion(.failure(failure)) }
      let perform = { [self] in
        do throws(RemoteError) {
          if let reply = try body() { completion(.success(Stamped(reply, at: stamp()))) }
        } catch {
          completion(.failure(error))
        }
      }
      guard server.isSilent else { return perform() }
      server.waiting.append((self, perform, { completion(.failure(.stopped)) }))
    }
  }

  func get(
    _ key: RemoteKey,
    from source: RemoteSource,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteValue?>
  ) {
    if source == .owner { return request("get", completion) { [server] in .some(server.current(key.bytes)) } }
    server.loop.async { [self] in
      asked["replica", default: 0] += 1
      replicaDeadline = deadline
      let found = replica.values[key.bytes]
      completion(.success(Stamped(found, at: stamp(), isKeepable: false, currentAt: replica.currentAt)))
    }
  }

  /// The replica has what the server has now.
  func replicate(isShown: Bool = true) {
    server.loop.sync { replica = (server.values, isShown ? server.now : nil) }
  }

  func check(
    _ key: RemoteKey,
    _ version: RemoteVersion,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteChecked>
  ) {
    request("check", completion) { [server] in
      server.current(key.bytes)?.version == version ? .same : .different
    }
  }

  private func write(
    _ kind: String,
    _ key: RemoteKey,
    _ condition: RemoteCondition,
    _ id: RemoteWriteID,
    _ completion: @escaping RemoteCompletion<RemoteWritten>,
    _ value: @escaping @Sendable (RemoteValue?) -> RemoteValue?
  ) {
    server.loop.async { [self] in lastID = id }
    let isLock = key.bytes.starts(with: Array("#lock:".utf8))
    request(isLock ? "lock \(kind)" : kind, completion) { [self] () throws(RemoteError) in
      let failure = isLock ? lockFailure : nil
      if let failure, failure != .unknownOutcome { throw failure }
      let before = server.current(key.bytes)
      let isMet =
        switch condition {
        case .always: true
        case .absent: before == nil
        case .present: before != nil
        case .version(let version): before?.version == version
        }
      guard isMet, kind != "touch" || before?.version != nil else {
        return .refused(before.map { $0.version.map { .version($0) } ?? .foreign } ?? .absent)
      }
      server.values[key.bytes] = value(before)
      let isScript = condition != .always
      server.tell(key.bytes, except: isScript ? nil : self)
      if let failure { throw failure }
      return .done(isEchoed: isScript, wasThere: before != nil)
    }
  }

  func set(
    _ key: RemoteKey,
    _ value: RemoteValue,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) { self.write("set", key, condition, write, completion) { _ in value } }

  func remove(
    _ key: RemoteKey,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) { self.write("remove", key, condition, write, completion) { _ in nil } }

  func touch(
    _ key: RemoteKey,
    _ envelope: RemoteEnvelope,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) {
    self.write("touch", key, condition, write, completion) { before in
      guard let before else { return nil }
      return Array(before.payload).withBytes { RemoteValue(envelope, tags: before.tags, payload: $0) }
    }
  }

  func apply(
    _ key: RemoteKey,
    _ intent: RemoteIntent,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteApplied>
  ) {
    request("apply", completion) { [self] () throws(RemoteError) in
      server.replays += 1
      if let refusal = server.refusals[key.bytes] { throw refusal }
      let before = server.values[key.bytes]
      let outcome = RemoteApplied(intent, on: before.map { $0.version.map { .version($0) } ?? .foreign } ?? .absent)
      server.replayed.append((key.bytes, outcome))
      if outcome == .applied {
        server.values[key.bytes] = intent.value
        server.tell(key.bytes, except: nil)
      }
      if server.swallowsReplies {
        swallowed.append { completion(.failure(.stopped)) }
        return nil
      }
      return outcome
    }
  }
}

extension RemoteApplied {
  /// What the seam says of the replay of an intent where something is found.
  init(_ intent: RemoteIntent, on found: RemoteFound) {
    if found == .version(intent.version) || intent.value == nil && found == .absent {
      self = .already
    } else if found == intent.base {
      self = .applied
    } else if case .version(let version) = found {
      self = intent.version.isLater(than: version) ? .applied : .superseded(by: found)
    } else {
      self = .superseded(by: found)
    }
  }
}
