import Synchronization

/// Codable's containers that somebody holds beyond the values they were made for, and the maps that they refer to without
/// owning them. Nobody should, but whoever does must find a map that refuses him, and not memory that is something else by now.
///
/// Those that have been let go of meanwhile go when the next one comes.
enum HeldContainers {
  private struct Pair {
    var container: AnyObject?
    let map: AnyObject
  }

  // Sendable: what is in it is only counted here.
  private struct Pairs: @unchecked Sendable { var all: [Pair] = [] }

  private static let pairs = Mutex(Pairs())

  static func keep(_ container: AnyObject?, _ map: AnyObject) {
    let new = Pairs(all: [Pair(container: container, map: map)])
    let gone = pairs.withLock { pairs in
      var gone = Pairs()
      for index in pairs.all.indices.reversed() where isKnownUniquelyReferenced(&pairs.all[index].container) {
        gone.all.append(pairs.all.remove(at: index))
      }
      pairs.all += new.all
      return gone
    }
    // Not under the lock: it may be the last reference to a session.
    withExtendedLifetime(gone) {}
  }
}
