extension HashIndex {
  /// The problems found in the index; empty if there are none.
  ///
  /// For tests.
  ///
  /// Complexity: linear in the table. Thread safety: the writer only.
  public func checkInvariants() -> [String] {
    var problems: [String] = []
    var entries = 0
    var owner: [UInt64: Int] = [:]
    for bucket in 0..<bucketCount {
      guard let chain = Chain(bucket: UInt64(bucket), in: state) else {
        problems.append("bucket \(bucket) is damaged")
        continue
      }
      for number in chain.overflowNumbers {
        if let other = owner[number] { problems.append("line \(number) is in buckets \(other) and \(bucket)") }
        owner[number] = bucket
      }
      let end = chain.end()
      entries += (0..<end).count { chain[$0] != 0 }
      problems += check(chain, end, bucket)
    }
    if entries != count { problems.append("\(entries) entries, but the count is \(count)") }
    if owner.count != overflowLineCount {
      problems.append("\(owner.count) overflow lines in chains, but the count is \(overflowLineCount)")
    }
    return problems + checkIdleLines(owner)
  }

  private func check(_ chain: Chain, _ end: Int, _ bucket: Int) -> [String] {
    var problems: [String] = []
    if chain.overflowCount > 0 && end <= chain.capacity - Line.slotCount {
      problems.append("bucket \(bucket) has a line without entries")
    }
    for position in 0..<end {
      let word = chain[position]
      if word == 0 {
        problems.append("bucket \(bucket) has a gap at \(position)")
      } else if word & Slot.addressMask == 0 {
        problems.append("bucket \(bucket) has an entry without an address at \(position)")
      } else if Geometry.bucket(Slot.partialHash(word, bucket: bucket), count: UInt64(bucketCount)) != UInt64(bucket) {
        problems.append("bucket \(bucket) has an entry of another bucket at \(position)")
      }
    }
    return problems
  }

  private func checkIdleLines(_ owner: [UInt64: Int]) -> [String] {
    var problems: [String] = []
    let idle = pool.idleLines.map(UInt64.init)
    if Set(idle).count != idle.count { problems.append("a line is idle twice") }
    for line in idle where owner[line] != nil { problems.append("idle line \(line) is in a chain") }
    // Lines between the end of an adopted image and the next chunk are never handed out.
    let known = owner.count + idle.count
    let handedOut = Int(state[.overflowEnd]) - 1 - Int(state[.overflowSkipped])
    if known != handedOut { problems.append("\(handedOut) overflow lines handed out, \(known) known") }
    return problems
  }
}
