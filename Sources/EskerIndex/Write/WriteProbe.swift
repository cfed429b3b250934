/// The writer's search for the addresses that a key may have; readers use ``Probe``.
///
/// Nothing moves during the writer's search, so it needs neither versions nor a second look, and its results stay valid.
/// After the last address it is positioned where the key would be inserted.
///
/// Thread safety: the index's writer only, which must not change the index otherwise between a search and the use of its
/// result.
@frozen
public struct WriteProbe {
  @usableFromInline let state: IndexState
  @usableFromInline let wanted: UInt64
  @usableFromInline let bucket: UInt64
  @usableFromInline var line: Line
  @usableFromInline var matches: UInt
  @usableFromInline var slot: Int

  @usableFromInline var metDamage: Bool

  /// True if the search met a damaged part of the index: the key may or may not be there.
  @inlinable public var isDamaged: Bool { metDamage }

  @inlinable
  @inline(__always)
  init(_ state: IndexState, _ hash: UInt64, _ bucket: UInt64, at head: Line) {
    self.state = state
    wanted = Slot.fingerprint(hash)
    self.bucket = bucket
    line = head
    matches = head.matches(wanted)
    slot = 0
    metDamage = false
  }

  @usableFromInline
  @inline(never)
  init(damaged state: IndexState) {
    self.state = state
    wanted = 0
    bucket = 0
    // Never read, since `metDamage` is set and `matches` is zero.
    line = state.noLine
    matches = 0
    slot = 0
    metDamage = true
  }

  /// The next address that the key may have; nil at the end.
  ///
  /// Complexity: for a table larger than the caches, one cache miss in five of six searches; one more per overflow line.
  @inlinable
  @inline(__always)
  public mutating func next() -> UInt64? {
    if metDamage { return nil }
    var steps = 0
    while true {
      while matches != 0 {
        slot = matches.trailingZeroBitCount
        matches &= matches &- 1
        let word = line[slot]
        // An empty slot looks like fingerprint zero.
        if word != 0 { return word & Slot.addressMask }
      }
      let number = Control.nextLine(line.control)
      if number == 0 { return nil }
      steps += 1
      guard steps < IndexState.longestChain, let following = Self.follow(number, bucket, state) else {
        metDamage = true
        return nil
      }
      line = following
      matches = following.matches(wanted)
    }
  }

  // Takes plain values, so that a probe can live in registers.
  @usableFromInline
  @inline(never)
  static func follow(_ number: UInt64, _ bucket: UInt64, _ state: IndexState) -> Line? {
    state.overflowLine(number, of: bucket)
  }

  /// Changes the address of the entry whose address ``next()`` returned last.
  ///
  /// Complexity: constant, without a cache miss.
  @inlinable
  @inline(__always)
  public func replaceCurrent(with address: UInt64) {
    line[slot] = line[slot] & ~Slot.addressMask | address & Slot.addressMask
  }
}

extension HashIndex {
  /// Starts the writer's search for the addresses that a key with this hash may have; see ``WriteProbe``.
  @inlinable
  @inline(__always)
  public func writeProbe(_ hash: UInt64) -> WriteProbe {
    let bucket = state.bucket(of: hash)
    guard let head = state.bucketLine(bucket) else { return WriteProbe(damaged: state) }
    return WriteProbe(state, hash, bucket, at: head)
  }
}
