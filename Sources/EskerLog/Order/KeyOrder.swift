internal import EskerIndex
internal import EskerPlatform

/// The keys of one incarnation of a keyspace in order, from the first time that they are asked for in order.
///
/// Invariant: once complete, it has at least every key to which the index leads in that incarnation, unless it says why one may be
/// missing. A key too many costs a look-up that finds nothing; a key too few would be a wrong answer. So a key is put in before
/// the index leads to it, and taken out, at leisure, behind; and only the index says what is there.
///
/// Safety: callers keep the keys that they pass until the call returns; keys of the tree are copied under its lock.
///
/// Thread safety: any thread. Keys come and go under the writer's lock, so a scan waits for one insertion at most.
final class KeyOrder: Sendable {
  private struct State: ~Copyable {
    var tree = KeyTree()
    var isComplete: Bool
    /// Why keys may be missing, if they may.
    var gap: StoreError?
  }

  private let state: Guarded<State>

  /// An order without keys.
  ///
  /// - Parameter isComplete: Whether the index leads to none.
  init(isComplete: Bool) {
    state = Guarded(State(isComplete: isComplete), .leaf)
  }

  /// Whether it has all keys that it can have.
  var isComplete: Bool { state.withLock { $0.isComplete } }

  /// The bytes of memory that it takes.
  var byteCount: Int { state.withLock { $0.tree.byteCount } }

  /// Notes that all keys were put in that were there when it began.
  func complete() { state.withLock { $0.isComplete = true } }

  /// Notes that there may be a key that it does not have. The first reason stays.
  func noteGap(_ reason: StoreError) {
    state.withLock { $0.gap = $0.gap ?? reason }
  }

  /// Throws if a key may be missing.
  func check() throws(StoreError) {
    if let gap = state.withLock({ $0.gap }) { throw gap }
  }

  /// Puts a key in; false if there is no memory for it. O(log n).
  func insert(_ key: UnsafeRawBufferPointer) -> Bool {
    state.withLock { unsafe $0.tree.insert(key) != .refused }
  }

  /// Puts several keys in; false if there is no memory for all.
  func insert(_ keys: KeyBatch) -> Bool {
    unsafe keys.bytes.withUnsafeBytes { bytes in
      state.withLock { state in
        for position in 0..<keys.count {
          let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[keys.place(position)])
          guard unsafe state.tree.insert(key) != .refused else { return false }
        }
        return true
      }
    }
  }

  /// Takes a key out. O(log n).
  func remove(_ key: UnsafeRawBufferPointer) {
    state.withLock { _ = unsafe $0.tree.remove(key) }
  }

  /// Reads the first keys of a range, at most `limit`. O(log n + limit).
  func read(_ range: KeyRange, _ direction: KeyRange.Direction, limit: Int, into keys: inout KeyBatch) {
    keys.removeAll()
    guard limit > 0 else { return }
    let (start, end) = direction == .ascending ? (range.lower, range.upper) : (range.upper, range.lower)
    unsafe (start?.key ?? []).withUnsafeBytes { key in
      let bound = start.map { unsafe KeyTree.Bound(key, isIncluded: $0.isIncluded) }
      state.withLock { state in
        let body = { (prefix: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer) -> Bool in
          unsafe keys.append(prefix, rest, unlessBeyond: end, direction) && keys.count < limit
        }
        switch direction {
        case .ascending: unsafe state.tree.forEach(from: bound, body)
        case .descending: unsafe state.tree.forEachBackwards(from: bound, body)
        }
      }
    }
  }
}
