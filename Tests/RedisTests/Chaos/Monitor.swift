import Foundation

/// What a server executes: the writes of keys of `History`, in order, in a file. Goes on when the server is killed and started again.
final class Monitor: @unchecked Sendable {
  let member: TestCluster.Member
  let path: String
  #if canImport(Glibc)
    private var leash: UnsafeMutablePointer<_IO_FILE>?
  #else
    private var leash: UnsafeMutablePointer<FILE>?
  #endif

  init(_ member: TestCluster.Member, in directory: String) {
    self.member = member
    path = "\(directory)/monitor-\(member.server.port)"
    let command =
      "while kill -0 \(getpid()) 2>/dev/null && [ ! -e \(quoted(path + ".stop")) ]; do "
      + "redis-cli -p \(member.server.port) MONITOR 2>/dev/null "
      + "| LC_ALL=C grep -a --line-buffered -E '\"(SET|DEL)\" \"c:kv:' >>\(quoted(path)); sleep 0.05; done"
    leash = popen(alone(command), "w")
  }

  var isConnected: Bool { member.server.cli("CLIENT", "LIST", "TYPE", "normal").contains("cmd=monitor") }

  /// Ends it, and reads what there is.
  func end() -> [UInt8] {
    _ = FileManager.default.createFile(atPath: path + ".stop", contents: nil)
    for line in member.server.cli("CLIENT", "LIST", "TYPE", "normal").split(separator: "\n")
    where line.contains("cmd=monitor") {
      if let id = line.split(separator: " ").first?.dropFirst(3) {
        member.server.cli("CLIENT", "KILL", "ID", String(id))
      }
    }
    if let leash { pclose(leash) }
    leash = nil
    return Array((try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data())
  }
}

/// A write as a server has executed it.
struct Execution {
  /// Microseconds since 1970.
  var time: Int
  var key: String
  /// What was written; nil for a removal.
  var token: String?
  /// The version of that, in bytes that are greater the later it was given.
  var version: [UInt8] = []
  /// Whether it came from a primary.
  var isReplicated: Bool

  /// `1764100000.123456 [0 127.0.0.1:5555] "SET" "c:kv:k7" "…<1.0:55>"`
  init?(_ line: ArraySlice<UInt8>, primaries: Set<Int>) {
    let head = String(decoding: line.prefix(96), as: UTF8.self)
    let words = head.split(separator: " ", maxSplits: 5)
    guard words.count >= 5, let dot = words[0].firstIndex(of: "."), let seconds = Int(words[0][..<dot]),
      let micros = Int(words[0][words[0].index(after: dot)...]),
      let port = words[2].split(separator: ":").last.flatMap({ Int($0.dropLast()) }), words[4].hasPrefix("\"c:kv:"),
      words[4].hasSuffix("\"")
    else { return nil }
    time = seconds * 1_000_000 + micros
    key = String(words[4].dropFirst(6).dropLast())
    isReplicated = primaries.contains(port)
    guard words[3] == "\"SET\"" else { return }
    guard let end = line.lastIndex(of: UInt8(ascii: ">")),
      let start = line[..<end].lastIndex(of: UInt8(ascii: "<"))
    else { return nil }
    token = String(decoding: line[start...end], as: UTF8.self)
    // Behind the key's closing quote, a space and an opening one.
    let value = line.dropFirst(words[0...4].reduce(0) { $0 + $1.utf8.count + 1 } + 1)
    version = Array(Self.unescaped(value, 24).dropFirst(10))
  }

  /// The first bytes of a text as it is printed by servers.
  private static func unescaped(_ text: ArraySlice<UInt8>, _ count: Int) -> [UInt8] {
    let letters: [UInt8: UInt8] = [110: 10, 114: 13, 116: 9, 97: 7, 98: 8]
    var bytes: [UInt8] = []
    var rest = text
    while bytes.count < count, let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
        bytes.append(byte)
        continue
      }
      if next == UInt8(ascii: "x") {
        bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(letters[next] ?? next)
      }
    }
    return bytes
  }
}
