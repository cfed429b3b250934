/// A measured loop over numbered turns, timed by the recorder passed to it.
protocol Loop {
  /// Operations per turn.
  var width: Int { get }
  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally
}

extension Loop {
  var width: Int { 1 }

  /// Runs all turns untimed.
  @discardableResult
  func run(_ turns: Range<Int>) throws -> Tally {
    var none = NoRecorder()
    return try run(turns, &none)
  }
}
