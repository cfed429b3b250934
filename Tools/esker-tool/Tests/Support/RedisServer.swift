import EskerTestSupport
import Foundation
import NIOPosix
import Testing

/// A server of a test's own, which answers at a socket in its directory.
final class RedisServer {
  private var process = Process()
  private let options: [String]
  let scratch: Scratch

  /// The port at which it answers, too.
  private(set) var port = 0

  /// - Parameter hasPort: Whether it answers at a port.
  init(_ options: String..., hasPort: Bool = false) throws {
    scratch = try Scratch()
    if hasPort { port = try Self.freePort() }
    self.options = options
    process = try start()
  }

  private func start() throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Installed.path(of: "redis-server")))
    process.arguments =
      ["--port", "\(port)", "--bind", "127.0.0.1", "--unixsocket", "s", "--dir", scratch.directory.path, "--save", ""]
      + options
    process.currentDirectoryURL = scratch.directory
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let isUp = try eventually {
      try scratch.shell("cd '\(scratch.directory.path)' && redis-cli -s s ping").text.contains(/PONG|NOAUTH/)
    }
    #expect(isUp)
    return process
  }

  /// Ends it, and starts another one at the same place with nothing in it.
  func restart() throws {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    process = try start()
  }

  deinit {
    // A process that a test starts may have all other signals blocked.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Its address, with what stands before the host.
  func address(_ user: String = "", database: Int = 0) -> String { "redis://\(user)127.0.0.1:\(port)/\(database)" }

  /// A port that nobody listens on: one that the system has just chosen.
  private static func freePort() throws -> Int {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { try? group.syncShutdownGracefully() }
    let channel = try ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).wait()
    defer { try? channel.close().wait() }
    return try #require(channel.localAddress?.port)
  }

  /// Gives it commands.
  func give(_ commands: [String]) throws {
    _ = try scratch.file("commands", (commands + [""]).joined(separator: "\n").utf8)
    let answers = try scratch.succeed("redis-cli -s s < commands")
    #expect(!answers.contains("ERR"), "\(answers)")
  }

  /// Gives it commands, and has it write its file; returns the path of that.
  func file(_ commands: [String]) throws -> String {
    _ = try scratch.file("commands", (commands + ["save", ""]).joined(separator: "\n").utf8)
    let answers = try scratch.succeed("redis-cli -s s < commands")
    #expect(!answers.contains("ERR") && answers.hasSuffix("OK\n"), "\(answers)")
    return scratch.path("dump.rdb")
  }
}
