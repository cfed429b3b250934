/// Turns that call a closure; its results are summed.
struct Closures: Loop {
  let body: (Int) throws -> UInt64

  init(_ body: @escaping (Int) throws -> UInt64) {
    self.body = body
  }

  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally {
    var tally = Tally()
    for index in turns {
      recorder.begin()
      tally.checksum &+= try body(index)
      tally.hits += 1
      recorder.end()
    }
    return tally
  }
}
