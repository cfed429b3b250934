import ArgumentParser

/// A duration on the command line: a whole number and a unit, such as `500ms`, `60s`, `5m`, `2h` or `7d`.
struct TimeToLive: ExpressibleByArgument, Hashable {
  let duration: Duration

  /// Nil for anything else, for zero, and on overflow.
  init?(argument: String) {
    let units = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let milliseconds = quantity(argument, units), milliseconds > 0 else { return nil }
    duration = .milliseconds(milliseconds)
  }

  init(seconds: Int) {
    duration = .seconds(seconds)
  }

  var defaultValueDescription: String { "\(duration.components.seconds)s" }

  static let help = "as in 500ms, 60s, 5m, 2h or 7d"
}
