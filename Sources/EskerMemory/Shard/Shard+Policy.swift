import EskerPlatform
import Synchronization

// The eviction policy: S3-FIFO with four changes, each measured; see `MemoryCache`.
extension Shard {
  /// Notes a use of a node without a lock.
  ///
  /// A frequently used entry is not written to, so that the threads reading it do not contend for its cache line.
  @inlinable
  @inline(__always)
  func noteUse(_ node: NodeHandle<Key, Value>) {
    let before = node.accessState
    // A burst right after the first use says nothing about later uses.
    if !before.isInMain
      && before.arrivalsSince(arrivals.load(ordering: .relaxed)) < window.load(ordering: .relaxed)
    {
      return
    }
    let after = before.used(in: period.load(ordering: .relaxed))
    // A single attempt: if the access state changed meanwhile, another use was noted, or a writer moved the entry.
    if after.bits != before.bits { node.change(before, to: after) }
  }

  /// The target length of the small queue.
  @inlinable var smallTarget: Int {
    max(1, Int((state.smallShare * Double(state.rivals)).rounded(.up)))
  }

  /// Decides in which queue a new entry starts, before room is made for it.
  @inlinable
  func admit(_ hash: UInt32) -> AccessState {
    state.insertionsInPeriod += 1
    if state.insertionsInPeriod > 8 * max(1, state.rivals) {
      state.insertionsInPeriod = 0
      period.wrappingAdd(1, ordering: .relaxed)
    }
    let period = period.load(ordering: .relaxed)
    guard let trace = state.ghosts.take(hash) else {
      return AccessState(uses: 1, period: period, inMain: false, arrival: nextArrival())
    }
    follow(trace)
    if returnsToMain(in: period) {
      return AccessState(uses: 2, period: period, inMain: true, arrival: 0)
    }
    return AccessState(uses: 2, period: period, inMain: false, arrival: nextArrival())
  }

  @inlinable
  func nextArrival() -> UInt32 {
    arrivals.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF_FFFF
  }

  /// Moves the border between the queues towards the one that evicted an entry too early.
  @inlinable
  func follow(_ trace: GhostQueue.Trace) {
    let count = max(1, state.rivals)
    var share = state.smallShare
    if trace.wasInMain {
      if trace.age < count / 2 { share -= 1 / Double(count) }
    } else if trace.age < count / 10 {
      share += 1 / Double(count)
    }
    state.smallShare = min(0.8, max(0.01, share))
  }

  /// Whether an entry that returns soon after its eviction may go to the main queue at once.
  ///
  /// It may if it is the small queue's turn to make room. Otherwise it may not displace an entry that has been used as
  /// often: in a loop longer than the cache all entries are alike, and swapping them would leave no hits at all.
  @inlinable
  func returnsToMain(in period: UInt32) -> Bool {
    if state.small.count >= smallTarget { return true }
    let victim = mainVictim()
    return victim == 0 || accessState(victim).uses(in: period) < 2
  }

  /// The oldest entry of the main queue without a second chance left; it stays where it is.
  @inlinable
  func mainVictim() -> UInt32 {
    // Readers may give chances as fast as the hand takes them, so the number of rounds is bounded.
    var patience = 4 * state.main.count
    while true {
      let slot = state.main.oldest
      if slot == 0 || patience == 0 { return slot }
      let accessState = accessState(slot)
      if accessState.chances == 0 { return slot }
      patience -= 1
      node(slot).accessState = accessState.passed
      take(slot, from: &state.main)
      push(slot, to: &state.main)
    }
  }

  /// Chooses the next entry to evict, and moves entries that earned it from the small queue to the main one; 0 if there is
  /// none.
  @inlinable
  func victim() -> UInt32 {
    while state.small.count >= smallTarget {
      let slot = state.small.oldest
      if slot == 0 { break }
      if accessState(slot).chances == 0 { return slot }
      promote(slot)
    }
    let slot = mainVictim()
    return slot == 0 ? state.small.oldest : slot
  }

  @inlinable
  func promote(_ slot: UInt32) {
    take(slot, from: &state.small)
    node(slot).accessState = accessState(slot).promoted
    push(slot, to: &state.main)
  }

  /// Keeps the small queue short while there is still room, so that the main queue is populated by the time there is none.
  @inlinable
  func settle() {
    if state.small.count > smallTarget { promote(state.small.oldest) }
  }

  /// Publishes for how many arrivals a new entry's uses do not count.
  @inlinable
  func updateWindow() {
    let length = UInt32(smallTarget / 5)
    if length != window.load(ordering: .relaxed) { window.store(length, ordering: .relaxed) }
  }

  /// Remembers the eviction of an entry.
  @inlinable
  func rememberEviction(_ slot: UInt32) {
    // A cache with a small part of shared limits must remember as long as the whole lasts, or it could not grow.
    let reach = max(2 * state.count, state.rivals)
    // A memory that is too short or far too long is replaced by an empty one; this happens when the cache first fills, and
    // when the entries' costs change.
    if state.ghosts.reach < reach - reach / 4
      || state.ghosts.reach > 2 * reach + 64
    {
      state.ghosts = GhostQueue(reach: reach)
    }
    let hash = node(slot).hash
    state.ghosts.insert(hash, wasInMain: accessState(slot).isInMain)
  }
}
