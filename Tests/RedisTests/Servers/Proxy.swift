import EskerPlatform
import EskerTestSupport
import NIOCore
import NIOPosix

/// Stands between a client and a server, or between two servers, and does to their bytes what networks do.
final class Proxy: Sendable {
  struct Faults {
    /// Toward the server, and back.
    var delays: [TimeAmount] = [.zero, .zero]
    /// Bytes of that direction are kept, and nobody is told.
    var isStalled = [false, false]
    /// Of what a primary sends to its replicas, beside `delays`.
    var replicationDelay = TimeAmount.zero
    /// New connections are closed.
    var refuses = false
    /// Names of nodes whose connections to this one's bus are closed.
    var refusedSenders: Set<String> = []
  }

  private struct State {
    var faults = Faults()
    var channels: [ObjectIdentifier: any Channel] = [:]
    var relays: [Relay] = []
    var bytes = [0, 0]
  }

  static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  let port: Int
  private let target: Int
  private let state = Guarded(State())
  private let listener: any Channel
  /// Who listens on the other side is known by what is sent first.
  fileprivate static let replica = Array("REPLCONF".utf8)

  init(to target: Int) throws {
    self.target = target
    let box = Box()
    listener = try ServerBootstrap(group: Self.group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: true)
      .childChannelInitializer { channel in box.proxy?.accept(channel) ?? channel.close() }
      .bind(host: "127.0.0.1", port: 0).wait()
    port = listener.localAddress?.port ?? 0
    box.proxy = self
  }

  private final class Box: @unchecked Sendable {
    weak var proxy: Proxy?
  }

  func set(_ change: @Sendable (inout Faults) -> Void) {
    let relays = state.withLock { state in
      change(&state.faults)
      return state.relays
    }
    for relay in relays { relay.resume() }
  }

  /// No byte passes any more in either direction, and nobody is told: a cable was pulled.
  func stall() { set { $0.isStalled = [true, true] } }

  /// Keeps what the connections that there are now send to the server, also when the client closes them. New ones are not touched.
  func hold() throws { try onLoop { for relay in $0 where relay.direction == 0 { relay.isHeld = true } } }

  /// Nothing passes any more on every second one of the connections that there are now, and nobody is told.
  func stallSome() throws {
    try onLoop { relays in
      for (index, relay) in relays.enumerated() where index / 2 % 2 == 0 { relay.isHeld = true }
    }
  }

  /// Sends what was kept.
  func release() throws { try onLoop { for relay in $0 { relay.release() } } }

  private func onLoop(_ body: @escaping @Sendable ([Relay]) -> Void) throws {
    let relays = state.withLock { $0.relays }
    try Self.group.next().submit { body(relays) }.wait()
  }

  /// Everything is closed, and new connections too.
  func cut() {
    set { $0.refuses = true }
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }

  /// Nothing is done to bytes any more.
  func heal() { set { $0 = Faults() } }

  /// Sends bytes that nobody has sent: to the clients, or to the server.
  func inject(_ bytes: [UInt8], toServer: Bool = false) {
    for relay in state.withLock({ $0.relays }) where relay.direction == (toServer ? 0 : 1) {
      relay.inject(ByteBuffer(bytes: bytes))
    }
  }

  /// How many bytes have come: those toward the server, and those back.
  var bytes: [Int] { state.withLock { $0.bytes } }

  fileprivate var faults: Faults { state.withLock { $0.faults } }

  fileprivate func count(_ bytes: Int, _ direction: Int) { state.withLock { $0.bytes[direction] += bytes } }

  private func accept(_ client: any Channel) -> EventLoopFuture<Void> {
    if faults.refuses { return client.close() }
    let link = Link()
    let forth = Relay(0, self, link)
    let back = Relay(1, self, link)
    return ClientBootstrap(group: client.eventLoop)
      .channelInitializer { server in
        server.eventLoop.makeCompletedFuture { try server.pipeline.syncOperations.addHandler(back) }
      }
      .connect(host: "127.0.0.1", port: target)
      .flatMap { server in
        forth.target = server
        back.target = client
        self.state.withLock { state in
          state.channels[ObjectIdentifier(client)] = client
          state.channels[ObjectIdentifier(server)] = server
          state.relays += [forth, back]
        }
        for (one, other) in [(client, server), (server, client)] {
          one.closeFuture.whenComplete { _ in
            if forth.isHeld, one === client {
              forth.closesOnRelease = true
              return
            }
            other.close(promise: nil)
            self.state.withLock { state in
              state.channels[ObjectIdentifier(one)] = nil
              state.relays.removeAll { $0 === forth || $0 === back }
            }
          }
        }
        return client.eventLoop.makeCompletedFuture { try client.pipeline.syncOperations.addHandler(forth) }
      }
      .flatMapError { _ in client.close() }
  }
}

/// What is known of a connection. Used by its loop.
private final class Link {
  var isReplication = false
  /// The node that uses it as a connection of the bus.
  var sender: String?
}

/// One direction of one connection. Used by its loop.
private final class Relay: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer

  let direction: Int
  private weak var proxy: Proxy?
  private let link: Link
  var target: (any Channel)?
  private var kept = ByteBuffer()
  private var delayed: [ByteBuffer] = []
  private var lastDue = NIODeadline.now()
  var isHeld = false
  /// What it comes from is closed already.
  var closesOnRelease = false

  init(_ direction: Int, _ proxy: Proxy, _ link: Link) {
    self.direction = direction
    self.proxy = proxy
    self.link = link
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    guard let proxy, let target else { return }
    proxy.count(bytes.readableBytes, direction)
    let faults = proxy.faults
    if direction == 0 { identify(bytes) }
    if let sender = link.sender, faults.refusedSenders.contains(sender) { return context.close(promise: nil) }
    let delay =
      faults.delays[direction] + (direction == 1 && link.isReplication ? faults.replicationDelay : .zero)
    guard delay > .zero || !delayed.isEmpty else { return pass(bytes) }
    // Never ahead of what came before, also if that had a longer delay.
    lastDue = max(lastDue, .now() + delay)
    delayed.append(bytes)
    target.eventLoop.scheduleTask(deadline: lastDue) { self.pass(self.delayed.removeFirst()) }
  }

  /// Replicas say so; messages of the bus begin with a mark and have the sender's name at 40.
  private func identify(_ bytes: ByteBuffer) {
    let view = bytes.readableBytesView
    if link.sender == nil, view.count >= 80, view.starts(with: Array("RCmb".utf8)) {
      link.sender = String(decoding: view.dropFirst(40).prefix(40), as: UTF8.self)
    } else if !link.isReplication, view.prefix(64).firstRange(of: Proxy.replica) != nil {
      link.isReplication = true
    }
  }

  private func pass(_ bytes: ByteBuffer) {
    var bytes = bytes
    if isHeld || proxy?.faults.isStalled[direction] == true || kept.readableBytes > 0 {
      kept.writeBuffer(&bytes)
    } else {
      target?.writeAndFlush(bytes, promise: nil)
    }
  }

  func inject(_ bytes: ByteBuffer) { target?.writeAndFlush(bytes, promise: nil) }

  func release() {
    guard isHeld else { return }
    isHeld = false
    target?.writeAndFlush(kept, promise: nil)
    kept = ByteBuffer()
    if closesOnRelease { target?.close(promise: nil) }
  }

  /// Sends what was kept, if nothing is kept any more.
  func resume() {
    target?.eventLoop.execute {
      guard self.proxy?.faults.isStalled[self.direction] == false, self.kept.readableBytes > 0 else { return }
      self.target?.writeAndFlush(self.kept, promise: nil)
      self.kept = ByteBuffer()
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
