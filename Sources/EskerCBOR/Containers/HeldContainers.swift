import Synchronization

/// Codable's containers that somebody holds beyond the values they were made for, and the maps that they refer to without
/// owning them. Nobody should, but whoever does must find a map that refuses him, and not memory that is something else by now.
///
/// Those that have been let go of meanwhile go when others come: at most as many are here as have come since, and as many as
/// are held.
enum HeldContainers {
  private struct Pair {
    var container: AnyObject?
    let map: AnyObject
  }

  /// Safety: may be sent to another thread, because the references in it are only counted and released here.
  private struct Pairs: @unchecked Sendable {
    var all: [Pair] = []
    /// How many there may be before they are all looked at again: twice what was held the last time, so that each is looked
    /// at twice on average, however many are held.
    var limit = 0

    /// Takes out what nobody else holds.
    mutating func takeReleased() -> Pairs {
      var released = Pairs()
      for index in all.indices.reversed() where isKnownUniquelyReferenced(&all[index].container) {
        all.swapAt(index, all.count - 1)
        released.all.append(all.removeLast())
      }
      limit = 2 * all.count
      return released
    }
  }

  private static let pairs = Mutex(Pairs())

  /// - Complexity: amortised O(1).
  static func keep(_ container: AnyObject?, _ map: AnyObject) {
    let new = Pairs(all: [Pair(container: container, map: map)])
    let released = pairs.withLock { pairs in
      let released = pairs.all.count >= pairs.limit ? pairs.takeReleased() : Pairs()
      pairs.all += new.all
      return released
    }
    // Not under the lock: it may be the last reference to a session.
    withExtendedLifetime(released) {}
  }
}
