import Synchronization

/// Codable's containers that are held beyond the values they were made for, and the maps that they refer to without owning
/// them. No code should do so, but if it does, it must find a map that reports an error, not reused memory.
///
/// Containers released meanwhile are removed when others are added: at most, this holds as many as were added since, plus
/// those still held.
enum HeldContainers {
  private struct Pair {
    var container: AnyObject?
    let map: AnyObject
  }

  /// Safety: may be sent to another thread, because the references in it are only counted and released here.
  private struct Pairs: @unchecked Sendable {
    var all: [Pair] = []
    /// The number at which all are checked again: twice the number held at the last check, so that each is checked twice on
    /// average, however many are held.
    var limit = 0

    /// Removes the containers that nobody else holds.
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
    // Outside the lock: it may be the last reference to a session.
    withExtendedLifetime(released) {}
  }
}
