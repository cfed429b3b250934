internal import EskerPlatform

/// The locks of single flight that this process has. A lock that ran out may have been taken anew before its first producer ended, so it
/// is counted how many believe to have it.
final class HeldLocks: Sendable {
  private let counts = Guarded([[UInt8]: Int](), .leaf)

  func contains(_ lock: RemoteKey) -> Bool { counts.withLock { $0[lock.bytes] != nil } }

  var isEmpty: Bool { counts.withLock { $0.isEmpty } }

  func begin(_ lock: RemoteKey) { counts.withLock { $0[lock.bytes, default: 0] += 1 } }

  func end(_ lock: RemoteKey) {
    counts.withLock { counts in
      guard let count = counts[lock.bytes] else { return }
      counts[lock.bytes] = count > 1 ? count - 1 : nil
    }
  }
}
