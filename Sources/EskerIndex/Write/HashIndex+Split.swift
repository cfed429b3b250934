extension HashIndex {
  /// Adds a bucket: moves the entries of the bucket at the split pointer whose next hash bit is set.
  ///
  /// The order matters for readers, as ``Probe`` explains: the new bucket is filled, then counted; then the entries that
  /// stay, taken from the chain's end, fill the places of those that moved; then the version rises; then the remaining
  /// places are emptied. Returns false, with nothing changed, when out of memory or if the bucket is damaged.
  func splitNextBucket() -> Bool {
    let count = state[.bucketCount]
    guard count < UInt64(Geometry.maximumBucketCount), ensureMainChunk(for: count) else { return false }
    state.main.populateStep(at: count)
    let level = Geometry.level(count: count)
    if splitShortChain(count, level) { return true }
    guard var source = Chain(bucket: Geometry.splitPointer(count: count), in: state),
      let target = state.bucketLine(count)
    else { return false }
    guard copyRising(from: source, to: target, bucket: count, level: level) else { return false }
    state[.bucketCount] = count + 1

    var hole = 0
    var last = source.capacity - 1
    while true {
      while hole <= last && isStaying(source[hole], level) { hole += 1 }
      while hole < last && !isStaying(source[last], level) { last -= 1 }
      if hole >= last { break }
      source[hole] = source[last]
      hole += 1
      last -= 1
    }
    source.bumpVersion()
    for position in hole..<source.capacity where source[position] != 0 { source[position] = 0 }
    source.truncate(to: hole, pool)
    return true
  }

  /// The same for a bucket of at most two lines whose moving entries fit into one, as in nearly all cases; false for others.
  ///
  /// Where an entry goes is random, which no branch predictor can foresee, so the entries are separated by bit masks.
  private func splitShortChain(_ count: UInt64, _ level: Int) -> Bool {
    let bucket = Geometry.splitPointer(count: count)
    guard let head = state.bucketLine(bucket), let target = state.bucketLine(count) else { return false }
    let number = Control.nextLine(head.control)
    var second = head
    if number != 0 {
      guard let line = state.overflowLine(number, of: bucket), Control.nextLine(line.control) == 0 else { return false }
      second = line
    }
    var (occupied, rising) = head.split(level: level)
    if number != 0 {
      let (more, moreRising) = second.split(level: level)
      occupied |= more << UInt32(Line.slotCount)
      rising |= moreRising << UInt32(Line.slotCount)
    }
    let risen = rising.nonzeroBitCount
    guard risen <= Line.slotCount else { return false }
    func word(_ position: Int) -> UInt64 {
      position < Line.slotCount ? head[position] : second[position &- Line.slotCount]
    }
    var rest = rising
    for slot in 0..<risen {
      target[slot] = word(rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
    for slot in risen...Line.slotCount { target[slot] = 0 }
    state[.bucketCount] = count + 1
    if risen == 0 { return true }

    let kept = occupied.nonzeroBitCount &- risen
    let front = (UInt32(1) << UInt32(kept)) &- 1
    var holes = ~(occupied & ~rising) & front
    var movers = occupied & ~rising & ~front
    while holes != 0 {
      let hole = holes.trailingZeroBitCount
      let moved = word(movers.trailingZeroBitCount)
      if hole < Line.slotCount { head[hole] = moved } else { second[hole &- Line.slotCount] = moved }
      holes &= holes &- 1
      movers &= movers &- 1
    }
    head.control = Control.bumped(head.control)
    if number == 0 {
      for slot in kept..<Line.slotCount { head[slot] = 0 }
    } else {
      for slot in min(kept, Line.slotCount)..<Line.slotCount { head[slot] = 0 }
      for slot in max(kept &- Line.slotCount, 0)..<Line.slotCount { second[slot] = 0 }
      if kept <= Line.slotCount {
        head.control = Control.withNextLine(head.control, 0)
        pool.retire(number)
      }
    }
    return true
  }

  private func isStaying(_ word: UInt64, _ level: Int) -> Bool {
    word != 0 && !Slot.goesUp(word, level: level)
  }

  /// Fills the new bucket, which is not visible to readers yet.
  private func copyRising(from source: Chain, to target: Line, bucket: UInt64, level: Int) -> Bool {
    // A failed attempt may have left entries behind.
    target.clear()
    var line = target
    var added: [UInt64] = []
    var slot = 0
    for position in 0..<source.capacity {
      let word = source[position]
      guard word != 0 && Slot.goesUp(word, level: level) else { continue }
      if slot == Line.slotCount {
        guard let (number, next) = pool.take(for: bucket) else {
          for number in added { pool.retire(number) }
          target.clear()
          return false
        }
        added.append(number)
        line.control = Control.withNextLine(line.control, number)
        line = next
        slot = 0
      }
      line[slot] = word
      slot += 1
    }
    return true
  }

  private func ensureMainChunk(for bucket: UInt64) -> Bool {
    let chunk = bucket >> ChunkDirectory.lineBits
    if chunk < state[.mainChunks] { return makeWritable(mainChunk: chunk) }
    let spare = state.exchange(.spareMain, 0)
    guard let address = spare != 0 ? spare : ChunkDirectory.allocateChunk() else { return false }
    if spare != 0 { state.main.setPaging(chunk, .huge) }
    state.main.setEntry(chunk, address)
    state[.mainChunks] = chunk + 1
    return true
  }
}
