/// What Tools/power-cuts passes on.
struct CutSettings {
  var emulator = ""
  var kernel = ""
  var initramfs = ""
  /// Where the machine's console is written to.
  var console = ""
  var isAccelerated = true
  /// Instead of a virtual machine: where a process of this one has its files.
  var here: String?
  /// Each file system, and an image of an empty one.
  var images: [(name: String, path: String)] = []
  /// Cuts and seconds of each file system; what is reached first ends it.
  var cuts = Int.max
  var seconds = 60
  var seed = UInt64.random(in: 0...UInt64(UInt32.max))
  /// Only this round of the seed.
  var round: Int?
  var with = ""
  var ignoresFlushes = false
  var goesOn = false
  /// Where findings are kept.
  var kept = ""
  var replayed: String?

  init(_ arguments: ArraySlice<String>) throws(UsageError) {
    var rest = arguments
    while let option = rest.popFirst() {
      switch option {
      case "--emulator": emulator = try Settings.word(&rest, option)
      case "--kernel": kernel = try Settings.word(&rest, option)
      case "--initramfs": initramfs = try Settings.word(&rest, option)
      case "--console": console = try Settings.word(&rest, option)
      case "--here": here = try Settings.word(&rest, option)
      case "--emulated": isAccelerated = false
      case "--image":
        let words = try Settings.word(&rest, option).split(separator: "=", maxSplits: 1).map(String.init)
        guard words.count == 2 else { throw UsageError("--image needs NAME=PATH") }
        images.append((words[0], words[1]))
      case "--cuts": cuts = try Settings.number(&rest, option)
      case "--seconds": seconds = try Settings.number(&rest, option)
      case "--seed": seed = UInt64(try Settings.number(&rest, option))
      case "--round": round = try Settings.number(&rest, option)
      case "--with": with += " " + (try Settings.word(&rest, option))
      case "--ignore-flushes": ignoresFlushes = true
      case "--go-on": goesOn = true
      case "--keep": kept = try Settings.word(&rest, option)
      case "--replay": replayed = try Settings.word(&rest, option)
      default: throw UsageError("no option: \(option)")
      }
    }
    var configuration = Configuration()
    try configuration.apply(with)
  }

  /// The configuration of a round.
  func configuration(round: Int) -> Configuration {
    var configuration = Configuration(ofCuts: seed, round: round)
    do throws(UsageError) { try configuration.apply(with) } catch { StandardStreams.complain(error.reason) }
    return configuration
  }
}
