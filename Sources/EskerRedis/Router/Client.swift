#if Redis
  internal import EskerPlatform
  internal import EskerRemote
  internal import Logging
  internal import NIOCore
  internal import NIOPosix
  internal import NIOSSL
  internal import Synchronization

  /// A client of a cluster or of a single server. All of it but the inbox belongs to one loop, which is what puts completions, changes
  /// and raised generations into one order.
  ///
  /// Safety: the mutable properties are touched on the loop alone; other threads use constants, the inbox and what is published.
  final class Client: RequestHost, @unchecked Sendable {
    enum Mode: Sendable {
      case cluster, server
    }

    /// What stands before keys, known from the start on.
    final class Keyspace: Sendable {
      let prefix: [UInt8]
      let crc: UInt16

      init(_ prefix: [UInt8]) {
        self.prefix = prefix
        crc = HashSlot.crc(prefix)
      }
    }

    /// What other threads may know.
    struct Published {
      var owners: [Int16] = []
      var times: [ServerTime?] = []
    }

    let mode: Mode
    let configuration: RedisConfiguration
    let logger: Logger
    let loop: any EventLoop
    let security: NIOSSLContext?
    let inbox = Inbox()
    let executor: LoopExecutor
    let keyspace = AtomicLazyReference<Keyspace>()
    let published = Guarded(Published(), .leaf)

    // Of the loop.
    var sink: (any RemoteSink)?
    var table: SlotTable
    var nodes: [Node] = []
    var nodesByAddress: [RedisAddress: Int] = [:]
    var seeds: [Int] = []
    var parked: [Request] = []
    var unconfirmed: [Unconfirmed] = []
    /// Messages so far, on all connections.
    var messages: UInt64 = 0
    var released = (count: 0, bytes: 0)
    var survey: Survey?
    var needsSurvey = true
    var lastSurvey = RemoteInstant(nanoseconds: 0)
    var currentEpoch: UInt64 = 0
    var leaseLength: Duration
    var lastError: RemoteError?
    var startDeadline = RemoteInstant.distantFuture
    var startWaiter: (@Sendable (Result<Void, RemoteError>) -> Void)?
    var startIsCancelled = false
    var drainDeadline: RemoteInstant?
    var stopWaiters: [@Sendable () -> Void] = []
    var isStopped = false
    var ticker: RepeatedTask?
    var lastTick: (coarse: RemoteInstant, continuous: ContinuousClock.Instant)?
    var random = SystemRandomNumberGenerator()
    /// Hashes of keys whose values were big, each where it would be found.
    var bigKeys = Array(repeating: 0, count: 1_024)
    var hasBigKeys = false
    var warned: Set<String> = []
    var heartbeatWords: [UInt16: String] = [:]
    /// Whether heartbeats ask primaries how far they are.
    var observesReplicas = false
    var onSecond: (([RedisNodeStatistics]) -> Void)?
    var nextSecond = RemoteInstant(nanoseconds: 0)
    var status = (status: RedisHealth.Status.unavailable, since: ContinuousClock.now)

    init(_ mode: Mode, _ configuration: RedisConfiguration) throws {
      try configuration.check()
      self.mode = mode
      self.configuration = configuration
      logger = configuration.logger
      loop = (configuration.eventLoopGroup ?? MultiThreadedEventLoopGroup.singleton).any()
      executor = LoopExecutor(loop)
      security = try configuration.tls.map { try NIOSSLContext(configuration: $0) }
      table = SlotTable(count: mode == .cluster ? HashSlot.count : 1)
      leaseLength = configuration.lease
    }

    // Of one that was not stopped.
    deinit {
      ticker?.cancel()
      for node in nodes { for connection in node.lanes.values { connection.abandon() } }
    }

    // MARK: From any thread

    func start(_ prefix: [UInt8], _ sink: any RemoteSink) async throws(RemoteError) {
      guard !prefix.contains(UInt8(ascii: "{")), !prefix.contains(UInt8(ascii: "}")) else {
        throw .unsupported("a prefix with braces")
      }
      let mine = Keyspace(prefix)
      guard keyspace.storeIfNil(mine) === mine else { throw .unsupported("a second start") }
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          loop.execute { self.begin(sink) { continuation.resume(returning: $0) } }
        }
      } onCancel: {
        loop.execute { self.cancelStart() }
      }
      try result.get()
    }

    func stop() async {
      inbox.close()
      await withCheckedContinuation { continuation in
        loop.execute { self.end { continuation.resume() } }
      }
    }

    /// Hands a request to the loop.
    func submit(_ request: Request) {
      switch inbox.add(request) {
      case .first: loop.execute { self.drain() }
      case .behindOthers: break
      case .refused(let error): request.fail(error, from: self)
      }
    }

    /// Hands several requests to the loop at once.
    func submit(_ requests: [Request]) {
      let (refused, error, isFirst) = inbox.add(requests)
      if isFirst { loop.execute { self.drain() } }
      for request in refused { request.fail(error, from: self) }
    }

    /// Runs `body` on the loop.
    func onLoop<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
      await withCheckedContinuation { continuation in loop.execute { continuation.resume(returning: body()) } }
    }

    // MARK: On the loop

    private func begin(_ sink: any RemoteSink, _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void) {
      guard !startIsCancelled else {
        isStopped = true
        return then(.failure(.stopped))
      }
      self.sink = sink
      startWaiter = then
      startDeadline = RemoteInstant.now.advanced(by: configuration.startTimeout)
      sink.raised(0..<UInt16(table.count), to: table.lastGeneration)
      inbox.open()
      for address in mode == .cluster ? configuration.addresses[...] : configuration.addresses.prefix(1) {
        let node = node(at: RedisAddress(host: address.host, port: address.port))
        node.isWanted = true
        seeds.append(node.index)
      }
      if mode == .server, let first = seeds.first {
        _ = table.setOwner(0, first, epoch: 0)
        nodes[first].slots = [0..<1]
        nodes[first].heartbeatKey = "#hb:"
        publish()
      }
      ticker = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(20)) { [weak self] _ in self?.tick()
      }
    }

    /// Stops, unless the start is over.
    private func cancelStart() {
      startIsCancelled = true
      guard let startWaiter else { return }
      self.startWaiter = nil
      startWaiter(.failure(.stopped))
      inbox.close()
      // Nobody waits for what is under way.
      drainDeadline = .now
      end {}
    }

    private func end(_ then: @escaping @Sendable () -> Void) {
      guard sink != nil, !isStopped else { return then() }
      stopWaiters.append(then)
      if drainDeadline == nil { drainDeadline = RemoteInstant.now.advanced(by: configuration.drainTimeout) }
      drain()
      finishStop()
    }

    /// Closes everything when nothing is under way any more, or when it has taken too long.
    func finishStop() {
      guard let drainDeadline, !isStopped else { return }
      let isIdle = parked.isEmpty && nodes.allSatisfy { $0.lanes.values.allSatisfy { !$0.hasRequests } }
      guard isIdle || RemoteInstant.now >= drainDeadline else { return }
      isStopped = true
      ticker?.cancel()
      startWaiter?(.failure(.stopped))
      startWaiter = nil
      for node in nodes { for connection in Array(node.lanes.values) { connection.close("stopped") } }
      for request in parked { request.fail(.stopped, from: self) }
      for write in unconfirmed {
        write.request.abandon(from: self)
        write.request.lose(from: self)
      }
      unconfirmed = []
      parked = []
      sink = nil
      for waiter in stopWaiters { waiter() }
      stopWaiters = []
    }

    /// Takes what other threads have handed in.
    func drain() {
      let now = RemoteInstant.now
      for request in inbox.take() { route(request, now) }
      endTurn()
    }

    /// Writes what the turn has gathered, once for each connection.
    func endTurn() {
      for node in nodes { for connection in node.lanes.values { connection.flush() } }
      if released.count > 0 {
        inbox.release(released.count, bytes: released.bytes)
        released = (0, 0)
      }
    }

    /// The node at an address, made if it was not known.
    func node(at address: RedisAddress) -> Node {
      if let index = nodesByAddress[address] { return nodes[index] }
      let node = Node(address, index: nodes.count)
      nodesByAddress[address] = node.index
      nodes.append(node)
      return node
    }

    /// Tells other threads who owns what.
    func publish() {
      let owners = (0..<table.count).map { Int16(clamping: table.owner($0)) }
      let times = nodes.map(\.time)
      published.withLock { $0 = Published(owners: owners, times: times) }
    }

    var prefix: [UInt8] { keyspace.load()?.prefix ?? [] }
  }
#endif
