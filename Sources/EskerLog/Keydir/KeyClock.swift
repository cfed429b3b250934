internal import EskerFormat
internal import EskerPlatform

/// The keys of a keyspace of limited capacity, in the order in which they go: CLOCK (Corbató 1968), by keys.
///
/// A key enters at the end when the index gets it. What is at the front is evicted, unless it was read or written since it came: then it
/// begins again at the end. A key is its hash, of eight bytes: the index says whether it is still there.
///
/// Invariant: once the keys are gathered, it has the hash of each key to which the index leads. It may also have hashes of keys that are
/// gone, and one more than once.
///
/// Thread safety: any thread; changed under the writer's lock.
final class KeyClock: Sendable {
  private struct State {
    /// Those before `first` are gone.
    var hashes: [UInt64] = []
    var first = 0
    var isGathering = false
    var isGathered: Bool
    var evicted = (entries: 0, bytes: 0)
    var pledged = (bytes: 0, entries: 0)

    var count: Int { hashes.count - first }

  }

  private let state: Guarded<State>

  /// How many hashes of keys that are gone may be here, besides as many as there are keys.
  private static let slack = 1 << 16

  /// - Parameter isGathered: Whether the keyspace has no keys yet.
  init(isGathered: Bool) {
    state = Guarded(State(isGathered: isGathered), .leaf)
  }

  var evicted: (entries: Int, bytes: Int) { state.withLock { $0.evicted } }

  func countEvicted(bytes: Int) {
    state.withLock { state in
      state.evicted.entries += 1
      state.evicted.bytes += bytes
    }
  }

  /// What entries are being evicted for: others leave that room alone, or a large write would be made room for in vain.
  var pledged: (bytes: Int, entries: Int) { state.withLock { $0.pledged } }

  /// A write that takes less than what it replaces needs no room, and gives none before it is done.
  func pledge(_ bytes: Int, _ entries: Int) {
    state.withLock { state in
      state.pledged.bytes += max(0, bytes)
      state.pledged.entries += max(0, entries)
    }
  }

  /// Undoes one call of ``pledge(_:_:)``.
  func release(_ bytes: Int, _ entries: Int) {
    state.withLock { state in
      state.pledged.bytes -= max(0, bytes)
      state.pledged.entries -= max(0, entries)
      assert(state.pledged.bytes >= 0 && state.pledged.entries >= 0, "more is released than was pledged")
    }
  }

  /// Adds a key that the index gets.
  ///
  /// - Parameter count: The number of the keyspace's keys.
  func append(_ hash: UInt64, count: Int) {
    state.withLock { state in
      guard state.isGathered || state.isGathering else { return }
      // Keys that come and go leave their hashes here. They are gathered anew when the next has to go.
      if state.isGathered, state.count > 2 * count + Self.slack {
        (state.hashes, state.first) = ([], 0)
        state.isGathered = false
        return
      }
      state.hashes.append(hash)
    }
  }

  /// The next key to go; nil if there is none, or the keys are not gathered.
  func next() -> UInt64? {
    state.withLock { state in
      guard state.isGathered, state.first < state.hashes.count else { return nil }
      defer {
        state.first += 1
        if state.first > 1024, state.first > state.hashes.count / 2 {
          state.hashes.removeFirst(state.first)
          state.first = 0
        }
      }
      return state.hashes[state.first]
    }
  }

  /// Puts a key back that was the next: it is not evicted now.
  func putBack(_ hash: UInt64) {
    state.withLock { state in
      if state.first > 0 {
        state.first -= 1
        state.hashes[state.first] = hash
      } else {
        state.hashes.insert(hash, at: 0)
      }
    }
  }

  /// Puts a key at the end that was used since it came.
  func renew(_ hash: UInt64) { state.withLock { $0.hashes.append(hash) } }

  /// The number of hashes.
  var count: Int { state.withLock { $0.count } }

  // MARK: Gathering

  /// Whether it has all keys.
  var isGathered: Bool { state.withLock { $0.isGathered } }

  /// From now on, keys that the index gets are added.
  func beginGathering() {
    state.withLock { state in
      state.hashes = []
      state.first = 0
      state.isGathering = true
    }
  }

  /// Puts the keys that were found, the oldest first, before those that came meanwhile; if that failed, nil.
  func endGathering(_ found: [UInt64]?) {
    state.withLock { state in
      guard state.isGathering else { return }
      state.isGathering = false
      guard let found else { return }
      state.hashes = found + state.hashes
      state.isGathered = true
    }
  }

  /// The keyspace was emptied.
  func removeAll() {
    state.withLock { state in
      state.hashes = []
      state.first = 0
      state.isGathering = false
      state.isGathered = true
    }
  }
}
