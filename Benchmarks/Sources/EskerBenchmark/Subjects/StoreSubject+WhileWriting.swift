import CLimits
import Synchronization

extension StoreSubject {
  /// Gets on one thread while another overwrites without pause.
  func getWhileWriting(_ keys: KeyBuffer) throws -> Pace {
    let (reading, writing) = (try engine.session(), try engine.session())
    let gets = Gets(session: reading, keys: keys, out: ValueBuffer(length: assignment.valueLength))
    let overwritten = KeyBuffer(numbers: Order.uniform(below: assignment.keys, count: 100_000, seed: 0x0E5))
    let puts = Puts(
      session: writing,
      keys: overwritten,
      first: assignment.keys,
      value: ValueBuffer(length: assignment.valueLength)
    )
    let isDone = Atomic<Bool>(false)
    var pace = Pace()
    var written = 0
    let seconds = try together(2) { thread -> (Pace, Int) in
      if thread == 0 {
        defer { isDone.store(true, ordering: .releasing) }
        var own = Pace()
        try own.run(gets, 0..<keys.count)
        return (own, 0)
      }
      var count = 0
      while !isDone.load(ordering: .acquiring) {
        try puts.run(count % overwritten.count..<count % overwritten.count + 100)
        count += 100
      }
      return (Pace(), count)
    } collect: { (share: (pace: Pace, written: Int)) in
      if share.written == 0 { pace = share.pace }
      written += share.written
    }
    try reading.end()
    try writing.end()
    pace.figures["puts beside it, k/s"] = Double(written) / seconds * 1e-3
    return pace
  }
}
