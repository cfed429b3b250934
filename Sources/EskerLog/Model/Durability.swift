/// What a write survives once its call has returned.
public enum Durability: Hashable, Sendable {
  /// The end of this process, however it ends (`kill -9` included), but not a power cut: the bytes are in the
  /// operating system's page cache.
  case buffered

  /// A power cut too. The call returns when the bytes are on stable storage; writers that wait at the same time share
  /// one sync.
  case synced

  /// As `.buffered` at once, and a power cut once this much time has passed: a background thread syncs.
  case periodic(Duration)
}
