import EskerTestSupport
import Foundation
import Synchronization
import Testing

/// A real `redis-server` on this machine. It dies with the test process, however that ends.
final class TestServer: @unchecked Sendable {
  static let program = ["/usr/bin/redis-server", "/usr/local/bin/redis-server", "/opt/homebrew/bin/redis-server"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  static var isInstalled: Bool { program != nil }

  static let missing: Comment = "redis-server is not installed: nothing was tested against real servers"

  let port: Int
  private let arguments: [String]
  private let directory: TemporaryDirectory
  #if canImport(Glibc)
    private var leash: UnsafeMutablePointer<_IO_FILE>?
  #else
    private var leash: UnsafeMutablePointer<FILE>?
  #endif

  init(_ arguments: [String] = [], port: Int = freePort()) throws {
    self.port = port
    directory = try TemporaryDirectory()
    self.arguments =
      [
        "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory.path,
        "--pidfile", directory.appending("pid"), "--logfile", directory.appending("log"), "--repl-diskless-sync-delay",
        "0",
        "--enable-debug-command", "yes", "--protected-mode", "no",
      ] + arguments
    try start()
  }

  deinit { kill() }

  var pid: Int32? {
    (try? String(contentsOfFile: directory.appending("pid"), encoding: .utf8))
      .flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
  }

  var log: String { (try? String(contentsOfFile: directory.appending("log"), encoding: .utf8)) ?? "" }

  func path(_ name: String) -> String { directory.appending(name) }

  func start() throws {
    try? FileManager.default.removeItem(atPath: directory.appending("pid"))
    let command = ([Self.program ?? ""] + arguments).map(quoted).joined(separator: " ")
    // The shell ends the server when its own input ends.
    leash = popen(
      alone("\(command) </dev/null >/dev/null 2>&1 & server=$!; read gone; kill -9 $server 2>/dev/null"),
      "w"
    )
    for _ in 0..<500 {
      let answer = pid == nil ? "" : cli("PING")
      if answer.contains("PONG") || answer.contains("NOAUTH") { return }
      usleep(10_000)
    }
    throw TestFailure("redis-server did not start: \(log)")
  }

  /// As `kill -9`.
  func kill() {
    if let pid { Foundation.kill(pid, SIGKILL) }
    if let leash { pclose(leash) }
    leash = nil
  }

  func signal(_ number: Int32) { if let pid { Foundation.kill(pid, number) } }

  /// The answer of a command, asked of the server itself and not by a proxy.
  @discardableResult
  func cli(_ words: String...) -> String { cli(words: words) }

  @discardableResult
  func cli(words: [String]) -> String {
    run(["timeout", "5", "redis-cli", "-h", "127.0.0.1", "-p", "\(port)"] + words).output
  }
}

struct TestFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

func quoted(_ word: String) -> String { "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'" }

/// A command that inherits nothing but its input and output. A connection that this process closes stays open in whatever has inherited
/// it, and nobody at its other end is told.
func alone(_ command: String) -> String {
  "exec bash -c "
    + quoted(
      "for fd in /dev/fd/*; do fd=${fd##*/}; if [ \"$fd\" -gt 2 ]; then eval \"exec $fd>&-\"; fi; done; \(command)"
    )
}

/// Runs a program to its end. Not by Foundation, whose way of waiting is confused by processes that live on.
@discardableResult
func run(_ words: [String], in directory: String = "/") -> (output: String, status: Int32) {
  let command = "cd \(quoted(directory)) && " + words.map(quoted).joined(separator: " ") + " 2>&1 </dev/null"
  guard let stream = popen(command, "r") else { return ("", -1) }
  var output: [UInt8] = []
  var room = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = fread(&room, 1, room.count, stream)
    if count == 0 { break }
    output += room.prefix(count)
  }
  let status = pclose(stream)
  return (String(decoding: output, as: UTF8.self), status)
}

/// A port of the loopback address that nobody has, and that nobody gets before a server listens there: it is below those that systems
/// give to connections, and is given once.
func freePort() -> Int {
  while true {
    let port = Int.random(in: 20_000..<32_768)
    guard givenPorts.withLock({ $0.insert(port).inserted }) else { continue }
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let isFree = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if isFree { return port }
  }
}

private let givenPorts = Mutex<Set<Int>>([])
