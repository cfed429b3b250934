internal import EskerIndex
internal import EskerPlatform

/// The keys of one incarnation of a keyspace in order, from the first time that they are asked for in order.
///
/// Invariant: once complete, it has at least every key to which the index leads in that incarnation, unless it says why one may be
/// missing. A key too many costs a look-up that finds nothing; a key too few would be a wrong answer. So a key is put in before
/// the index leads to it, and taken out, at leisure, behind; and only the index says what is there.
///
/// It may begin with the keys that a checkpoint has. If a page of these is damaged it is of no use any more, and another is gathered.
///
/// Safety: callers keep the keys that they pass until the call returns; keys of the tree are copied under its lock.
///
/// Thread safety: any thread. Keys come and go under the writer's lock, so a scan waits for one insertion at most.
final class KeyOrder: Sendable {
  private struct State: ~Copyable {
    var tree: KeyTree
    var isComplete: Bool
    /// Why keys may be missing, if they may.
    var gap: StoreError?
    /// The page of the checkpoint that is damaged.
    var damage: KeyImage.Damage?
    /// The last checkpoint that has its keys, 0 for none.
    var checkpoint: UInt64
    /// How many keys were taken out without a record of it in the log.
    var swept = 0

    /// Calls `body` unless a page was found damaged; whether none is.
    @inline(__always)
    mutating func use(_ body: (inout KeyTree) throws(KeyImage.Damage) -> Void) -> Bool {
      guard damage == nil else { return false }
      do throws(KeyImage.Damage) {
        try body(&tree)
        return true
      } catch {
        damage = error
        return false
      }
    }

    @inline(__always)
    mutating func insert(_ key: UnsafeRawBufferPointer) -> Bool {
      var isRefused = false
      let isWhole = use { (tree) throws(KeyImage.Damage) in isRefused = try unsafe tree.insert(key) == .refused }
      return isWhole && !isRefused
    }

    /// Takes all keys out, unless there are only a few.
    mutating func takeKeys(unlessFewerThan least: Int) -> KeyBatch? {
      guard tree.count >= least else { return nil }
      var keys = KeyBatch()
      _ = use { (tree) throws(KeyImage.Damage) in
        try unsafe tree.forEach(from: nil) { prefix, rest in unsafe keys.append(prefix, rest) }
      }
      tree = KeyTree()
      return keys
    }
  }

  private let state: Guarded<State>
  private let origin: CheckpointOrder?

  /// An order without keys.
  ///
  /// - Parameter isComplete: Whether the index leads to none.
  init(isComplete: Bool) {
    state = Guarded(State(tree: KeyTree(), isComplete: isComplete, checkpoint: 0), .leaf)
    origin = nil
  }

  /// The keys that a checkpoint has.
  init(_ image: KeyImage, from origin: CheckpointOrder, of checkpoint: UInt64) {
    state = Guarded(State(tree: KeyTree(image), isComplete: true, checkpoint: checkpoint), .leaf)
    self.origin = origin
  }

  /// Whether it has all keys that it can have.
  var isComplete: Bool { state.withLock { $0.isComplete && $0.damage == nil } }

  /// The number of keys.
  var count: Int { state.withLock { $0.tree.count } }

  /// Whether it has all keys, and none can be missing.
  var isWhole: Bool { state.withLock { $0.isComplete && $0.gap == nil && $0.damage == nil } }

  /// Whether a checkpoint may have its keys.
  var canBeSaved: Bool { isWhole && count > 0 }

  /// The last checkpoint that has its keys, 0 for none.
  var checkpoint: UInt64 {
    get { state.withLock { $0.checkpoint } }
    set { state.withLock { $0.checkpoint = newValue } }
  }

  /// Says that a page of the checkpoint is damaged; nil if none is.
  var damageEvent: StoreEvent? { state.withLock { $0.damage }.flatMap { origin?.event($0) } }

  /// The bytes that it takes: of memory, and of the pages of a checkpoint that it maps.
  var byteCount: Int { state.withLock { $0.tree.byteCount } }

  /// Takes the keys that were there when it began, and is complete with those that came meanwhile; false if there is no memory.
  func complete(with gathered: KeyImage) -> Bool {
    var whole = KeyTree(gathered)
    // If many have come, most are put in without the lock.
    while let young = state.withLock({ $0.takeKeys(unlessFewerThan: 1_000) }) {
      guard young.insert(into: &whole) else { return false }
    }
    return state.withLock { state in
      if let young = state.takeKeys(unlessFewerThan: 1) {
        guard young.insert(into: &whole) else { return false }
      }
      swap(&state.tree, &whole)
      state.isComplete = true
      return true
    }
  }

  /// Notes that there may be a key that it does not have. The first reason stays.
  func noteGap(_ reason: StoreError) {
    state.withLock { $0.gap = $0.gap ?? reason }
  }

  /// Throws if a key may be missing.
  func check() throws(StoreError) {
    if let gap = state.withLock({ $0.gap }) { throw gap }
  }

  /// Puts a key in; false if there is no memory for it, or a page of the checkpoint is damaged. O(log n).
  func insert(_ key: UnsafeRawBufferPointer) -> Bool {
    state.withLock { unsafe $0.insert(key) }
  }

  /// Takes a key out. O(log n).
  func remove(_ key: UnsafeRawBufferPointer) {
    state.withLock { state in
      _ = state.use { (tree) throws(KeyImage.Damage) in _ = try unsafe tree.remove(key) }
    }
  }

  /// Takes a key out whose entry went without a record of it in the log. O(log n).
  func sweep(_ key: UnsafeRawBufferPointer) {
    state.withLock { $0.swept += 1 }
    unsafe remove(key)
  }

  /// How many keys were swept. An index that was saved before may still lead to them.
  var sweptCount: Int { state.withLock { $0.swept } }

  /// Reads the first keys of a range, at most `limit`; false if a page of the checkpoint is damaged. O(log n + limit).
  func read(_ range: KeyRange, _ direction: KeyRange.Direction, limit: Int, into keys: inout KeyBatch) -> Bool {
    keys.removeAll()
    guard limit > 0 else { return true }
    let (start, end) = direction == .ascending ? (range.lower, range.upper) : (range.upper, range.lower)
    return unsafe (start?.key ?? []).withUnsafeBytes { key in
      let bound = start.map { unsafe KeyTree.Bound(key, isIncluded: $0.isIncluded) }
      return state.withLock { state in
        state.use { (tree) throws(KeyImage.Damage) in
          let body = { (prefix: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer) -> Bool in
            unsafe keys.append(prefix, rest, unlessBeyond: end, direction) && keys.count < limit
          }
          switch direction {
          case .ascending: try unsafe tree.forEach(from: bound, body)
          case .descending: try unsafe tree.forEachBackwards(from: bound, body)
          }
        }
      }
    }
  }
}

extension KeyBatch {
  /// Puts all keys into a tree; false if there is no memory.
  fileprivate func insert(into tree: inout KeyTree) -> Bool {
    // Safety: keys are lent by the array as long as the call lasts.
    unsafe bytes.withUnsafeBytes { bytes in
      (0..<count).allSatisfy { position in
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[place(position)])
        return (try? unsafe tree.insert(key)).map { $0 != .refused } ?? false
      }
    }
  }
}
