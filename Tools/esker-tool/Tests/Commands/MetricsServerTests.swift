import Esker
import Foundation
import NIOCore
import Testing

@testable import esker_tool

/// `esker watch --prometheus`, asked as Prometheus and others would.
@Suite struct MetricsServerTests {
  private let scratch: Scratch
  private let store: LogStore

  init() throws {
    scratch = try Scratch()
    store = try LogStore(at: scratch.store)
    try store.put("1", forKey: "a")
  }

  /// Starts the tool at a port of the system's choice; returns the port.
  private func start(_ address: String = "0") throws -> (tool: RunningTool, port: Int) {
    let tool = try RunningTool(["watch", scratch.store, "--prometheus", address])
    let said = String(decoding: tool.errors.fileHandleForReading.availableData, as: UTF8.self)
    let port = try #require(said.firstMatch(of: /http:\/\/[^ ]*:([0-9]+)\/metrics/).flatMap { Int($0.1) }, "\(said)")
    return (tool, port)
  }

  /// Sends bytes, and returns all that comes until the connection is closed, or `still open` after some time.
  private func ask(_ port: Int, _ request: String) throws -> String {
    let line =
      "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '%b' \"$0\" >&3; timeout -s KILL 30 cat <&3 || echo still open"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", line, request]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
  }

  @Test func theTextIsThatOfStatsAndTheRestIsRefused() throws {
    let (tool, port) = try start()
    let answer = try ask(port, "GET /metrics?x=1 HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
    let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
    #expect(parts.count == 2 && parts[0].hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(parts[0].contains("content-type: text/plain; version=0.0.4; charset=utf-8"))
    #expect(try PrometheusPage(parts.last ?? "").value("esker_keys", ["keyspace": ""]) == 1)
    #expect(try parts.last == scratch.run("stats", scratch.store, "--format", "prometheus").text)
    try store.put("2", forKey: "b")
    #expect(
      try ask(port, "GET /metrics HTTP/1.0\\r\\n\\r\\n").contains("\nesker_writes_total{store=\"\(store.path)\"} 2\n")
    )
    let head = try ask(port, "HEAD /metrics HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
    #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n"))
    #expect(try ask(port, "GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n").hasPrefix("HTTP/1.1 404 "))
    let post = try ask(port, "POST /metrics HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 2\\r\\n\\r\\nxx")
    #expect(post.hasPrefix("HTTP/1.1 405 ") && post.contains("allow: GET, HEAD"))
    #expect(try ask(port, "nonsense\\r\\n\\r\\n").hasPrefix("HTTP/1.1 400 "))
    #expect(tool.end(with: SIGINT) == 0)
    try store.close()
  }

  /// A server in this process, with patience of the test's choice.
  private func serve(patience: TimeAmount) throws -> MetricsServer {
    try MetricsServer(at: MetricsAddress(host: "127.0.0.1", port: 0), patience: patience) { "metrics\n" }
  }

  @Test func aSlowClientIsCut() throws {
    let server = try serve(patience: .milliseconds(100))
    defer { server.stop() }
    #expect(try ask(server.address.port, "GET /met").isEmpty)
  }

  @Test func ofTooManyTheOldestIsCutAndTheNewestAnswered() throws {
    let server = try serve(patience: .hours(1))
    defer { server.stop() }
    let port = server.address.port
    // One that says half of a request, and as many behind it as are let in; it sees its end, they stay.
    let line =
      "exec {first}<>/dev/tcp/127.0.0.1/\(port); printf 'GET /met' >&$first; "
      + "for n in $(seq 64); do exec {f}<>/dev/tcp/127.0.0.1/\(port); printf 'GET /met' >&$f; done; "
      + "timeout -s KILL 30 cat <&$first; echo $?; read"
    let slow = Process()
    slow.executableURL = URL(fileURLWithPath: "/bin/bash")
    slow.arguments = ["-c", line]
    let (held, told) = (Pipe(), Pipe())
    slow.standardInput = held
    slow.standardOutput = told
    try slow.run()
    #expect(String(decoding: told.fileHandleForReading.availableData, as: UTF8.self) == "0\n")
    #expect(try ask(port, "GET /metrics HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n").hasPrefix("HTTP/1.1 200 "))
    try held.fileHandleForWriting.close()
    slow.waitUntilExit()
  }

  @Test func whatCannotBeListenedOnIsSaidInASentence() throws {
    let (tool, port) = try start()
    let taken = try scratch.run("watch", scratch.store, "--prometheus", "\(port)")
    #expect(taken.status == 74)
    #expect(taken.errors == "esker: cannot listen on 127.0.0.1:\(port): Address already in use\n")
    #expect(tool.end(with: SIGTERM) == 143)
    let unknown = try scratch.run("watch", scratch.store, "--prometheus", "no.such.host.invalid:9100")
    #expect(unknown.status == 64 && unknown.errors.contains("no address to listen on is known"))
    for address in ["x", "", "65536", "1.2.3.4:", "::1", "-1", "a:b"] {
      #expect(try scratch.run("watch", scratch.store, "--prometheus=\(address)").status == 64)
    }
    #expect(try scratch.run("watch", scratch.path("none"), "--prometheus", "0").status == 66)
    #expect(try scratch.run("watch", scratch.store, "--prometheus", "0", "--json").status == 64)
    try store.close()
  }

  @Test(arguments: [
    ("9100", "127.0.0.1:9100"), (":9100", "127.0.0.1:9100"), ("0.0.0.0:1", "0.0.0.0:1"), ("[::1]:9100", "[::1]:9100"),
    ("localhost:0", "localhost:0"),
  ])
  func addressesAreRead(_ argument: String, _ text: String) {
    #expect(MetricsAddress(argument: argument)?.text == text)
  }

  @Test func aStoreThatHasGoneIsAnError() throws {
    let (tool, port) = try start()
    try store.close()
    try FileManager.default.removeItem(atPath: scratch.store)
    #expect(try ask(port, "GET /metrics HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n").hasPrefix("HTTP/1.1 503 "))
    #expect(tool.end(with: SIGINT) == 0)
  }
}
