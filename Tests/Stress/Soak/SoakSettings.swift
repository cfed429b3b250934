/// What the command line asks of a soak.
struct SoakSettings {
  var seconds = 3600
  /// Seconds between two samples.
  var interval = 5
  var seed = UInt64.random(in: 0...UInt64(UInt32.max))
  /// A file for the samples, as CSV.
  var samples: String?

  init(_ arguments: some Collection<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let option = rest.popFirst() {
      switch option {
      case "--seconds": seconds = try Settings.number(&rest, option)
      case "--interval": interval = max(1, try Settings.number(&rest, option))
      case "--seed": seed = UInt64(try Settings.number(&rest, option))
      case "--samples": samples = try Settings.word(&rest, option)
      default: throw UsageError("no option of soak: \(option)")
      }
    }
  }
}
