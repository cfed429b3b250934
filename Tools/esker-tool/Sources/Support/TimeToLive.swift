import ArgumentParser

/// A duration on the command line: a whole number and a unit, such as `500ms`, `60s`, `5m`, `2h` or `7d`.
struct TimeToLive: ExpressibleByArgument, Hashable {
  let duration: Duration

  /// Nil for anything else, for zero, and on overflow.
  init?(argument: String) {
    let digits = argument.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int64(digits), count > 0 else { return nil }
    let unit: Int64
    switch argument.dropFirst(digits.count) {
    case "ms": unit = 1
    case "s": unit = 1000
    case "m": unit = 60_000
    case "h": unit = 3_600_000
    case "d": unit = 86_400_000
    default: return nil
    }
    let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    duration = .milliseconds(milliseconds)
  }

  init(seconds: Int) {
    duration = .seconds(seconds)
  }

  var defaultValueDescription: String { "\(duration.components.seconds)s" }

  static let help = "as in 500ms, 60s, 5m, 2h or 7d"
}
