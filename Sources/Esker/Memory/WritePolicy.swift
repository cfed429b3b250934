/// What a ``HybridStorage`` does with a write.
public enum WritePolicy: Hashable, Sendable {
  /// Writes to the storage behind before it returns; over a log the value is then in memory too.
  case through
  /// Writes to the storage behind before it returns, and keeps the value out of memory until it is read.
  case around
  /// Keeps the value in memory and returns; a thread of Esker's writes it behind soon.
  ///
  /// At most `window` keys wait; who sets one more writes all of them first. What waits is written when the store is closed, and
  /// before anybody else writes to the keyspace. **It is lost when the process dies.**
  case back(window: Int = 1024)
}
