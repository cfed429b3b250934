import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Answers `GET /metrics` by HTTP/1.1, and nothing else.
///
/// One thread answers all. A connection gets one answer, and is closed after some time whatever it does; of more than 64, the oldest is
/// closed. So no client can hold up the others, or take memory without end.
final class MetricsServer {
  private final class Connections: Sendable {
    private let open = Mutex<[any Channel]>([])

    func add(_ channel: any Channel) {
      let oldest = open.withLock { open -> (any Channel)? in
        open.append(channel)
        return open.count > mostConnections ? open.removeFirst() : nil
      }
      oldest?.close(promise: nil)
      channel.closeFuture.whenComplete { _ in self.open.withLock { open in open.removeAll { $0 === channel } } }
    }
  }

  private static let mostConnections = 64

  /// Where it listens, with the port that the system chose for 0.
  let address: MetricsAddress
  private let group: MultiThreadedEventLoopGroup

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - patience: After how long a connection is closed.
  ///   - text: What to answer; its error becomes status 503.
  /// - Throws: ``ToolError/system(operation:path:errno:)``; ``ToolError/noHost(_:)``.
  init(
    at address: MetricsAddress,
    patience: TimeAmount = .seconds(10),
    _ text: @escaping @Sendable () throws -> String
  ) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let connections = Connections()
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 64)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        connections.add(channel)
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
          try channel.pipeline.syncOperations.addHandler(MetricsHandler(patience, text))
        }
      }
    do {
      let channel = try bootstrap.bind(host: address.host, port: address.port).wait()
      self.address = MetricsAddress(host: address.host, port: channel.localAddress?.port ?? address.port)
    } catch {
      try? group.syncShutdownGracefully()
      guard let error = error as? IOError else { throw ToolError.noHost(address.host) }
      throw ToolError.system(operation: "listen on", path: address.text, errno: error.errnoCode)
    }
  }

  /// Ends all connections.
  func stop() {
    try? group.syncShutdownGracefully()
  }
}

/// Answers the one request of a connection.
private final class MetricsHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let patience: TimeAmount
  private let text: @Sendable () throws -> String
  private var request: HTTPRequestHead?
  private var deadline: Scheduled<Void>?
  private var isAnswered = false

  init(_ patience: TimeAmount, _ text: @escaping @Sendable () throws -> String) {
    self.patience = patience
    self.text = text
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): request = head
    case .body: break
    case .end:
      guard let request, !isAnswered else { return }
      isAnswered = true
      answer(request, context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
    let path = request.uri.prefix { $0 != "?" }
    guard path == "/metrics" else { return send(.notFound, "metrics are at /metrics\n", request, context) }
    guard request.method == .GET || request.method == .HEAD else {
      return send(.methodNotAllowed, "only GET and HEAD are answered\n", request, context)
    }
    do {
      send(.ok, try text(), request, context)
    } catch {
      send(.serviceUnavailable, "\(error)\n", request, context)
    }
  }

  private func send(
    _ status: HTTPResponseStatus,
    _ text: String,
    _ request: HTTPRequestHead,
    _ context: ChannelHandlerContext
  ) {
    let body = context.channel.allocator.buffer(string: text)
    var headers: HTTPHeaders = [
      "content-type": status == .ok ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain; charset=utf-8",
      "content-length": "\(body.readableBytes)", "connection": "close",
    ]
    if status == .methodNotAllowed { headers.add(name: "allow", value: "GET, HEAD") }
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
      promise: nil
    )
    if request.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }
}
