/// What the command line asks for.
struct Settings {
  var seconds = 60
  var seed = UInt64.random(in: 0...UInt64(UInt32.max))
  var round: Int?
  var with = ""
  var roundSeconds = 5
  var goesOn = false
  var ignored: Set<String> = []
  var keeps = false

  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--go-on": goesOn = true
      case "--keep": keeps = true
      case "--seconds": seconds = try Self.number(&rest, option)
      case "--round-seconds": roundSeconds = try Self.number(&rest, option)
      case "--round": round = try Self.number(&rest, option)
      case "--seed": seed = UInt64(try Self.number(&rest, option))
      case "--with": with += " " + (try Self.word(&rest, option))
      case "--ignore": ignored.insert(try Self.word(&rest, option))
      default: throw UsageError("no option: \(option)")
      }
    }
    // Said before anything begins.
    var configuration = Configuration()
    try configuration.apply(with)
  }

  /// The configuration of a round.
  func configuration(round: Int) -> Configuration {
    var configuration = Configuration(seed: seed, round: round)
    do throws(UsageError) { try configuration.apply(with) } catch { StandardStreams.complain(error.reason) }
    return configuration
  }

  static func word(_ rest: inout ArraySlice<String>, _ option: String) throws(UsageError) -> String {
    guard let word = rest.popFirst() else { throw UsageError("\(option) needs a value") }
    return word
  }

  static func number(_ rest: inout ArraySlice<String>, _ option: String) throws(UsageError) -> Int {
    let word = try word(&rest, option)
    guard let number = Int(word), number >= 0 else { throw UsageError("\(option) needs a number, not \(word)") }
    return number
  }
}
