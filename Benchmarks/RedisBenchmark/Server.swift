import Foundation

/// A server for the benchmark.
final class Server {
  let port = Int.random(in: 20_000..<40_000)
  private let leash: UnsafeMutablePointer<FILE>

  init?() {
    guard Server.run("command -v redis-server && command -v redis-benchmark").contains("redis-benchmark") else {
      return nil
    }
    // The shell ends the server when its own input ends.
    let command =
      "redis-server --port \(port) --bind 127.0.0.1 --save '' --appendonly no --client-output-buffer-limit 'normal 64mb 64mb 60'"
    guard let leash = popen("\(command) </dev/null >/dev/null 2>&1 & server=$!; read gone; kill -9 $server", "w") else {
      return nil
    }
    self.leash = leash
    for _ in 0..<200 {
      if Server.run("redis-cli -p \(port) PING").contains("PONG") { return }
      usleep(20_000)
    }
    stop()
    return nil
  }

  func stop() { pclose(leash) }

  /// Operations a second of redis-benchmark: get and set of values of 124 bytes, 50 connections, 32 commands at a time.
  func benchmark() -> (gets: Double, sets: Double) {
    let text = Server.run("redis-benchmark -p \(port) -P 32 -n 1000000 -r 10000 -d 124 -t get,set --csv")
    func rate(_ name: String) -> Double {
      for line in text.split(separator: "\n") where line.hasPrefix("\"\(name)\"") {
        return Double(line.split(separator: ",")[1].filter { $0 != "\"" }) ?? 0
      }
      return 0
    }
    return (rate("GET"), rate("SET"))
  }

  static func run(_ command: String) -> String {
    guard let stream = popen("\(command) 2>/dev/null", "r") else { return "" }
    defer { pclose(stream) }
    var output: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&room, 1, room.count, stream)
      if count == 0 { return String(decoding: output, as: UTF8.self) }
      output += room.prefix(count)
    }
  }
}
