/// A search for the addresses that a key may have.
///
/// The fingerprint leaves a few candidates, nearly always at most one; the caller compares the key in the log. An address
/// that a probe returns is a hint that was correct at some instant during the probe, and `nil` without ``isDamaged`` means
/// that at some instant during the probe the index held no address for this hash other than those returned. Candidates may
/// repeat.
///
/// Thread safety: a probe belongs to one thread, which must stay pinned from before the probe is created until its last use,
/// or must be the index's writer (see ``WriteProbe``). Probes run concurrently with the writer and never wait.
///
/// How it works: to move an entry within a chain, the writer first stores it in its new place, then raises the version of
/// the chain, and only then empties the old place; and it adds a bucket before it empties the places of the entries that
/// belong there. So a reader that missed an entry because it moved sees, by the ordering of these stores, a new version,
/// another bucket for the hash, or another place for the bucket, and starts again.
@frozen
public struct Probe {
  @usableFromInline let state: IndexState
  @usableFromInline let hash: UInt64
  @usableFromInline let bucket: UInt64
  @usableFromInline var head: Line
  @usableFromInline var headControl: UInt64
  @usableFromInline var line: Line
  @usableFromInline var nextLine: UInt64
  @usableFromInline var matches: UInt
  @usableFromInline var steps: Int

  /// True if the search met a damaged part of the index: the key may or may not be there.
  public var isDamaged: Bool { steps < 0 }

  @inlinable
  @inline(__always)
  init(_ state: IndexState, _ hash: UInt64, _ bucket: UInt64, at head: Line) {
    self.state = state
    self.hash = hash
    self.bucket = bucket
    self.head = head
    line = head
    // Before the slots: any later move changes the version.
    headControl = head.control
    nextLine = Control.nextLine(headControl)
    matches = head.matches(Slot.fingerprint(hash))
    steps = 0
  }

  @usableFromInline
  @inline(never)
  init(damaged state: IndexState, _ hash: UInt64) {
    self.state = state
    self.hash = hash
    bucket = 0
    // Never read, since `steps` is negative.
    head = state.noLine
    line = state.noLine
    headControl = 0
    nextLine = 0
    matches = 0
    steps = -1
  }

  /// The next address that the key may have; nil at the end.
  ///
  /// Complexity: for a table larger than the caches, one cache miss in five of six probes; one more per overflow line.
  @inlinable
  @inline(__always)
  public mutating func next() -> UInt64? {
    while true {
      if let address = nextOnLine() { return address }
      if nextLine == 0 {
        if isUnmoved { return nil }
        if !restart() { return nil }
      } else if !advance() {
        return nil
      }
    }
  }

  /// The next matching address on the current line; nil if there is none. The chain's next line is then prefetched, and
  /// ``next()`` continues there.
  ///
  /// Complexity: waits for no memory other than the current line.
  @inlinable
  @inline(__always)
  public mutating func nextAtHand() -> UInt64? {
    if let address = nextOnLine() { return address }
    if nextLine != 0 { state.unverifiedOverflowLine(nextLine)?.prefetch() }
    return nil
  }

  @inlinable
  @inline(__always)
  mutating func nextOnLine() -> UInt64? {
    let wanted = Slot.fingerprint(hash)
    while matches != 0 {
      let slot = matches.trailingZeroBitCount
      matches &= matches &- 1
      let word = line[slot]
      // The slot may have changed since it was compared, and an empty one looks like fingerprint zero.
      if word != 0 && Slot.haveSameFingerprint(word, wanted) { return word & Slot.addressMask }
    }
    return nil
  }

  /// Whether everything read belongs to one state of one chain: if so, what was not found was not there.
  @inlinable
  var isUnmoved: Bool {
    guard steps >= 0, let now = state.bucketLine(state.bucket(of: hash)) else { return false }
    return now.isSame(as: head) && Control.haveSameVersion(now.control, headControl)
  }

  @usableFromInline
  mutating func restart() -> Bool {
    if steps < 0 { return false }
    let bucket = state.bucket(of: hash)
    guard let head = state.bucketLine(bucket) else {
      self = Probe(damaged: state, hash)
      return false
    }
    self = Probe(state, hash, bucket, at: head)
    return true
  }

  @usableFromInline
  mutating func advance() -> Bool {
    guard steps >= 0 else { return false }
    steps += 1
    guard steps < IndexState.longestChain, let next = state.overflowLine(nextLine, of: bucket) else {
      // A line that was there when the link was read stays until this thread unpins, so this is damage.
      _ = state.reportDamage()
      self = Probe(damaged: state, hash)
      return false
    }
    line = next
    nextLine = Control.nextLine(next.control)
    matches = next.matches(Slot.fingerprint(hash))
    return true
  }
}
