import EskerRedis
import Hummingbird
import Logging

/// What the environment says.
struct Settings {
  /// What this instance calls itself.
  let instance: String
  let port: Int
  /// Some of the cluster's nodes.
  let redis: [RedisConfiguration.Address]
  /// Where the near copies are kept; each instance has its own.
  let directory: String
  let logLevel: Logger.Level

  init(_ environment: Environment) throws {
    instance = environment.get("INSTANCE") ?? "server"
    port = environment.get("PORT", as: Int.self) ?? 8080
    directory = try environment.require("DIRECTORY")
    logLevel = environment.get("LOG_LEVEL").flatMap { Logger.Level(rawValue: $0) } ?? .info
    redis = try environment.require("REDIS").split(separator: ",").map { node in
      let parts = node.split(separator: ":")
      return RedisConfiguration.Address(String(parts[0]), port: parts.count > 1 ? Int(parts[1]) ?? 6379 : 6379)
    }
  }
}
