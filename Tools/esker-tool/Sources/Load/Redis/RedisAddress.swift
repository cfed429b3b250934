import Foundation

/// A server of Redis or Valkey that is loaded from: `redis://USER:PASSWORD@HOST:PORT/DATABASE`.
struct RedisAddress: Equatable {
  static let schemes = ["redis", "valkey"]
  /// What a password that the address does not have is taken from, as redis-cli does.
  static let passwordVariable = "REDISCLI_AUTH"

  let host: String
  let port: Int
  let user: String?
  let password: String?
  let database: Int

  /// Whether something is meant to be the address of a server.
  static func isMeant(_ text: String) -> Bool {
    (schemes + ["rediss", "valkeys"]).contains { text.hasPrefix("\($0)://") }
  }

  /// Nil for what is not the address of a server that can be read.
  init?(_ text: String) {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme, Self.schemes.contains(scheme),
      let host = parts.host, !host.isEmpty, parts.query == nil, parts.fragment == nil,
      let database = parts.path.count > 1 ? Int(parts.path.dropFirst()) : 0, database >= 0,
      let port = UInt16(exactly: parts.port ?? 6379), port > 0
    else { return nil }
    // An address of IPv6 stands in brackets.
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    self.port = Int(port)
    user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
    password = parts.password ?? ProcessInfo.processInfo.environment[Self.passwordVariable]
    self.database = database
  }

  /// Without user and password.
  var text: String { "redis://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)" }
}
