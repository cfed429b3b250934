#if Redis
  internal import EskerRemote
  internal import NIOCore

  /// What a connection tells, on its loop.
  protocol ConnectionDelegate: AnyObject, Sendable {
    /// Whether the request may be written now; notes the generation at which it is.
    func connection(_ connection: Connection, maySend request: Request) -> Bool
    /// A reply; nil was over the limit, and had that size.
    func connection(_ connection: Connection, replied reply: Connection.Reply, to request: Request, isRedirected: Bool)
    func connection(_ connection: Connection, pushed push: ByteBuffer) throws(WireError)
    func connectionDidConnect(_ connection: Connection)
    /// Called once. Then nothing is awaited any more: `lost` was written, `unsent` was not.
    func connectionDidClose(_ connection: Connection, lost: [Request], unsent: [Request])
    /// A turn of the loop begins; ``connectionDidRead(_:)`` ends it.
    func connectionWillRead(_ connection: Connection)
    func connectionDidRead(_ connection: Connection)
  }

  /// A connection to a server: requests go out in the order in which they came, and replies are given to them in that order.
  ///
  /// Safety: used by its loop alone.
  final class Connection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    enum Role: Hashable {
      /// For requests, heartbeats and changes.
      case main
      case bulk, barrier, reader
      /// Will take the place of a main one that stands still behind a write.
      case spare
      /// Was the main one, and waits for the answers to its writes.
      case held
    }

    enum Reply {
      case value(RESPValue)
      case oversized(Int)
    }

    private enum Awaited {
      case request(Request, isRedirected: Bool)
      case control((RESPValue) -> Void)
      /// Nobody wants the reply, which is to a request of that size or to a command of the client's own.
      case dropped(size: Int)
    }

    static let mostInFlight = 4_096
    static let mostBytesInFlight = 8 << 20
    private static let mostRoomKept = 256 << 10

    private(set) var role: Role
    unowned let node: Node
    let replyLimit: Int
    private let prefix: [UInt8]
    private weak var delegate: (any ConnectionDelegate)?
    private var channel: (any Channel)?
    private var decoder: RESPDecoder
    private var awaited = CircularBuffer<Awaited>()
    private var waiting = CircularBuffer<Request>()
    private var bytesInFlight = 0
    private var output = RESPOutput()
    private(set) var isClosed = false
    /// Who waits for the end of a turn that has brought bytes.
    private var reader: (any ConnectionDelegate)?
    /// Since when something is awaited and no byte has come.
    private(set) var quietSince = RemoteInstant.now
    private(set) var skippingSince: RemoteInstant?
    /// The earliest deadline of what is here, at the earliest.
    private var nextDeadline = RemoteInstant.distantFuture
    /// Requests go out only when this is set.
    var isReady = false
    /// When the newest question was asked on it that has been answered.
    var answered: RemoteInstant?
    /// What the server calls it: ended by that when it is replaced.
    var identity: (id: UInt64, address: String)?
    private(set) var closeReason = "closed"

    init(_ role: Role, of node: Node, prefix: [UInt8], replyLimit: Int, delegate: any ConnectionDelegate) {
      self.role = role
      self.prefix = prefix
      self.node = node
      self.replyLimit = replyLimit
      self.delegate = delegate
      decoder = RESPDecoder(limit: replyLimit)
    }

    var inFlight: Int { awaited.count }
    var queued: Int { waiting.count }

    /// Whether somebody waits for a reply.
    var hasRequests: Bool {
      !waiting.isEmpty
        || awaited.contains { item in
          guard case .request(let request, _) = item else { return false }
          return request.state == .sent
        }
    }

    // MARK: Sending

    /// Sends a request, or keeps it until there is room. Loading a weak reference is slow, so the sender passes the delegate.
    func send(_ request: Request, for delegate: some ConnectionDelegate) {
      nextDeadline = min(nextDeadline, request.deadline)
      if isReady, waiting.isEmpty, hasRoom, !isClosed { write(request, for: delegate) } else { waiting.append(request) }
    }

    /// Sends a request to where its slot is moving, ahead of those that wait.
    func sendAsking(_ request: Request, for delegate: some ConnectionDelegate) {
      nextDeadline = min(nextDeadline, request.deadline)
      control(RESPCommand("ASKING")) { _ in }
      write(request, for: delegate, isRedirected: true)
    }

    /// Sends a command of the client's own, ahead of those that wait.
    func control(_ command: RESPCommand, _ then: @escaping (RESPValue) -> Void) {
      guard !isClosed else { return }
      output.append(command.bytes)
      expect(.control(then))
    }

    private var hasRoom: Bool { awaited.count < Self.mostInFlight && bytesInFlight < Self.mostBytesInFlight }

    private func write(_ request: Request, for delegate: some ConnectionDelegate, isRedirected: Bool = false) {
      guard delegate.connection(self, maySend: request) else { return }
      request.wasSent()
      request.encode(behind: prefix, to: &output)
      bytesInFlight += request.size
      expect(.request(request, isRedirected: isRedirected))
    }

    private func expect(_ item: Awaited) {
      if awaited.isEmpty { quietSince = .now }
      awaited.append(item)
    }

    /// Sends what there is room for.
    func pump() {
      guard !waiting.isEmpty, let delegate else { return }
      while isReady, !isClosed, hasRoom, let request = waiting.popFirst() {
        if request.state == .waiting { write(request, for: delegate) }
      }
    }

    /// Writes to the socket what the turn has gathered.
    func flush() {
      guard !output.bytes.isEmpty, let channel, !isClosed else { return }
      channel.writeAndFlush(ByteBuffer(bytes: output.bytes), promise: nil)
      // The room is used again, unless it is much.
      if output.bytes.count > Self.mostRoomKept { output = RESPOutput() } else { output.removeAll() }
    }

    /// Takes what was not written.
    func takeWaiting() -> [Request] {
      defer { waiting.removeAll() }
      return Array(waiting)
    }

    /// Answers those whose deadline has passed.
    func expire(_ now: RemoteInstant, for host: any RequestHost, _ expired: (Request) -> Void) {
      guard now >= nextDeadline else { return }
      var next = RemoteInstant.distantFuture
      for item in awaited {
        guard case .request(let request, _) = item, request.state == .sent else { continue }
        if request.deadline <= now { request.abandon(from: host) } else { next = min(next, request.deadline) }
      }
      for request in waiting where request.deadline > now { next = min(next, request.deadline) }
      if waiting.contains(where: { $0.deadline <= now }) {
        let all = takeWaiting()
        for request in all { if request.deadline <= now { expired(request) } else { waiting.append(request) } }
      }
      nextDeadline = min(next, nextDeadline > now ? nextDeadline : .distantFuture)
    }

    // MARK: Writes that are held back

    /// What is answered next, if that is a write; ``quietSince`` says since when nothing has come.
    var heldWrite: Request? {
      guard case .request(let request, _) = awaited.first, request.kind == .write else { return nil }
      return request
    }

    /// The writes whose replies are awaited.
    var awaitedWrites: [Request] {
      awaited.compactMap { item in
        guard case .request(let request, _) = item, request.kind == .write else { return nil }
        return request
      }
    }

    /// Keeps the writes alone, and gives everything else up: gives the reads that were not answered, to be sent elsewhere.
    func setAside() -> [Request] {
      role = .held
      var reads = waiting.filter { $0.kind != .write }
      waiting.removeAll { $0.kind != .write }
      awaited = CircularBuffer(
        awaited.map { item in
          switch item {
          case .request(let request, _) where request.kind != .write:
            if request.state == .sent { reads.append(request) }
            return .dropped(size: request.size)
          case .control: return .dropped(size: 0)
          case .request, .dropped: return item
          }
        }
      )
      return Array(reads)
    }

    /// A spare one becomes the main one.
    func takePlace() { role = .main }

    // MARK: Channel

    func channelActive(context: ChannelHandlerContext) {
      guard !isClosed else {
        context.close(promise: nil)
        return
      }
      channel = context.channel
      quietSince = .now
      delegate?.connectionDidConnect(self)
      flush()
      context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isClosed, let delegate else { return }
      if reader == nil {
        reader = delegate
        delegate.connectionWillRead(self)
      }
      var bytes = unwrapInboundIn(data)
      quietSince = .now
      decoder.append(&bytes)
      do {
        while !isClosed, let message = try decoder.next() { try deliver(message, to: delegate) }
        skippingSince = decoder.isSkipping ? skippingSince ?? quietSince : nil
      } catch {
        close("wrong bytes: \(error)")
      }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      pump()
      reader.take()?.connectionDidRead(self)
      flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
      close("closed by the server")
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { close("\(error)") }

    private func deliver(_ message: RESPMessage, to delegate: any ConnectionDelegate) throws(WireError) {
      let reply: Reply
      switch message {
      case .push(let push):
        try delegate.connection(self, pushed: push)
        return
      case .reply(let value): reply = .value(value)
      case .oversized(let size): reply = .oversized(size)
      }
      switch awaited.popFirst() {
      case nil: throw .malformed("a reply to nothing")
      case .request(let request, let isRedirected):
        bytesInFlight -= request.size
        delegate.connection(self, replied: reply, to: request, isRedirected: isRedirected)
      case .control(let then):
        if case .value(let value) = reply { then(value) } else { throw .malformed("a reply of that size") }
      case .dropped(let size): bytesInFlight -= size
      }
    }

    // MARK: Closing

    /// Closes the socket of a client that is gone. May be called on any thread.
    func abandon() { channel?.close(promise: nil) }

    /// Ends the connection. What waits and what is in flight is handed back.
    func close(_ reason: String) {
      guard !isClosed else { return }
      isClosed = true
      isReady = false
      closeReason = reason
      channel?.close(promise: nil)
      var lost: [Request] = []
      for item in awaited { if case .request(let request, _) = item { lost.append(request) } }
      awaited.removeAll()
      output = RESPOutput()
      delegate?.connectionDidClose(self, lost: lost, unsent: takeWaiting())
      // Of a channel that is closed, nobody may say that the turn ends.
      if let reader = reader.take() { channel?.eventLoop.execute { reader.connectionDidRead(self) } }
      delegate = nil
    }
  }
#endif
