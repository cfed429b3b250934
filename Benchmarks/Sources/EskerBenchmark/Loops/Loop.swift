/// A measured loop over numbered turns, timed by whatever recorder comes with the call.
protocol Loop {
  /// Operations a turn.
  var width: Int { get }
  func run<R: Recorder>(_ turns: Range<Int>, _ recorder: inout R) throws -> Tally
}

extension Loop {
  var width: Int { 1 }

  /// All of it, untimed.
  @discardableResult
  func run(_ turns: Range<Int>) throws -> Tally {
    var none = NoRecorder()
    return try run(turns, &none)
  }
}
