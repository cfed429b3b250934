/// A storage that other processes have too, so that they can agree on which of them produces a missing value.
package protocol SharedStorage<Key>: StorageProtocol {
  /// What they agree by about the value under `key`; nil if each process produces its own.
  func productionLock(of key: Key) throws(StorageError) -> (any ProductionLock)?
}

/// Has one process at a time produce the value under a key. A way to spare work: a process that cannot tell produces too.
package protocol ProductionLock: Sendable {
  /// What `produce` makes while no other process produces, or what `look` finds once another one has.
  ///
  /// `look` gives nil while there is nothing, and reads past memory that does not know of other processes. It was asked once before
  /// the call.
  nonisolated(nonsending) func value<Value: Sendable>(
    _ look: nonisolated(nonsending) () async throws(StorageError) -> Value?,
    orProduce produce: nonisolated(nonsending) () async throws(StorageError) -> Value
  ) async throws(StorageError) -> Value
}

/// What the processes that have a storage agree by about the value under `key`; nil if each produces its own.
func productionLock<Base: StorageProtocol>(
  of base: Base,
  _ key: Base.Key
) throws(StorageError) -> (any ProductionLock)? {
  try (base as? any SharedStorage<Base.Key>)?.productionLock(of: key)
}
