import EskerPlatform

// The locks of EskerMemory, in the order in which they are taken. Writes to a store take them under the writer's lock.
extension LockRank {
  static let notifying = LockRank(50, "notifying")
  static let shard = LockRank(51, "shard")
  static let freeing = LockRank(52, "freeing")
  static let pool = LockRank(53, "pool")
}
