public import EskerMemory

/// From where the memory of a front is.
@usableFromInline
enum FrontMemory {
  /// The keyspace's, made as narrow as these limits; over anything but a log, memory of its own.
  case limited(MemoryLimits)
  /// That of another front.
  case shared(MemoryPool)
}
