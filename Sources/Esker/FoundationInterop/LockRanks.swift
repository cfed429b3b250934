internal import EskerPlatform

// The locks of views and fronts, in the order in which they are taken: some are held while a store is called, and some are
// taken where a store reports its writes.
extension LockRank {
  static let registering = LockRank(8, "registering", allowsIO: true)

  static let broadcasters = LockRank(43, "broadcasters")
  static let broadcaster = LockRank(44, "broadcaster")
  static let fence = LockRank(45, "fence")
  static let flights = LockRank(48, "flights")
  static let changes = LockRank(55, "changes")
}
