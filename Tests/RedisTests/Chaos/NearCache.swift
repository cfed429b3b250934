import Foundation

/// A near cache that is not ours: a program that does what `History` does; see `Tools/near-cache`.
struct NearCache {
  /// As a shell takes it, without its arguments.
  var command: String
  /// How stale what it returns may be, in microseconds; nil as for Esker, a lease.
  var bound: Int?

  /// The one that the environment names.
  static var named: NearCache? {
    let environment = ProcessInfo.processInfo.environment
    guard let command = environment["ESKER_NEAR_CACHE"] else { return nil }
    return NearCache(
      command: command,
      bound: environment["ESKER_NEAR_CACHE_STALENESS"].flatMap { Int($0) }.map { $0 * 1_000 }
    )
  }

  /// One that listens to what has changed, as many do.
  static func sample(hasFence: Bool) -> NearCache {
    let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../NearCache"
    )
    return NearCache(
      command: "python3 \(quoted(directory.appendingPathComponent("near_cache.py").path))\(hasFence ? " --fence" : "")"
    )
  }

  static var hasPython: Bool { system("python3 -c '' >/dev/null 2>&1") == 0 }
}
