/// What a ``HybridStorage`` does with a write.
public enum WritePolicy: Hashable, Sendable {
  /// Writes to the storage behind before it returns; over a log the value is then in memory too.
  case through
  /// Writes to the storage behind before it returns, and keeps the value out of memory until it is read.
  case around
}
