internal import EskerPlatform

/// Of which keys the remote store did not answer lately: they are not asked for again for a second, as long as something stale does.
final class Throttle<Key: Hashable & Sendable>: Sendable {
  private static var pause: Duration { .seconds(1) }
  private static var limit: Int { 4_096 }

  /// When each failed.
  private let failures: Guarded<[Key: RemoteInstant]> = Guarded([:], .leaf)

  /// Whether the key failed less than a second ago.
  func isClosed(_ key: Key, at now: RemoteInstant) -> Bool {
    failures.withLock { failures in
      guard let instant = failures[key] else { return false }
      if now < instant.advanced(by: Self.pause) { return true }
      failures[key] = nil
      return false
    }
  }

  /// Of more keys than can be remembered, some are asked for more often.
  func noteFailure(_ key: Key, at now: RemoteInstant) {
    failures.withLock { failures in
      if failures.count >= Self.limit {
        failures = failures.filter { now < $0.value.advanced(by: Self.pause) }
        if failures.count >= Self.limit { return }
      }
      failures[key] = now
    }
  }
}
