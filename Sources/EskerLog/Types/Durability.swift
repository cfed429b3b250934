/// What a write survives once its call has returned.
public enum Durability: Hashable, Sendable {
  /// The end of the process, however it ends (`kill -9` included), but not a power failure: the bytes are in the
  /// operating system's page cache.
  case buffered

  /// A power failure too. The call returns when the bytes are on stable storage; writers that wait at the same time share
  /// one sync.
  case synced

  /// Like `.buffered` at first, and a power failure too once this much time has passed: a background thread syncs.
  case periodic(Duration)
}
