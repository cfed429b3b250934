internal import EskerMemory
internal import EskerPlatform

/// The memory that all fronts of a keyspace share, as long as there are any.
final class KeyspaceMemory: Sendable {
  private struct Reference {
    weak var pool: MemoryPool?
  }

  private let reference = Guarded(Reference(), .leaf)

  /// The keyspace's memory, at most as large as `limits` allow.
  func pool(_ limits: MemoryLimits) -> MemoryPool {
    let pool = reference.withLock { reference in
      if let pool = reference.pool { return pool }
      let pool = MemoryPool(limits: limits)
      reference.pool = pool
      return pool
    }
    // Values go where no lock is held.
    pool.narrow(to: limits)
    return pool
  }
}
