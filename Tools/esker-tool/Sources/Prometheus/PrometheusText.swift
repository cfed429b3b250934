/// Builds the text that Prometheus reads (exposition format 0.0.4): families of samples, each with its help and its type.
struct PrometheusText {
  enum Kind: String {
    case counter, gauge, histogram
  }

  typealias Labels = [(name: String, value: String)]

  /// Labels of every sample.
  private let labels: Labels
  private(set) var text = ""

  init(labels: Labels) {
    self.labels = labels
  }

  /// Begins a family. Its samples must follow, and its name says the unit: `_bytes`, `_seconds`, `_ratio`, and `_total` of a
  /// counter.
  mutating func family(_ name: String, _ kind: Kind, _ help: String) {
    text += "# HELP \(name) \(help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n"))\n"
    text += "# TYPE \(name) \(kind.rawValue)\n"
  }

  mutating func sample(_ name: String, _ value: String, _ more: Labels = []) {
    let all = (labels + more).map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    text += all.isEmpty ? "\(name) \(value)\n" : "\(name){\(all)} \(value)\n"
  }

  /// A family of one sample.
  mutating func add(_ name: String, _ kind: Kind, _ value: some BinaryInteger, _ help: String) {
    family(name, kind, help)
    sample(name, "\(value)")
  }

  /// A family of one sample.
  mutating func add(_ name: String, _ kind: Kind, _ value: Double, _ help: String) {
    family(name, kind, help)
    sample(name, Self.number(value))
  }

  static func number(_ value: Double) -> String {
    value.isNaN ? "NaN" : value == .infinity ? "+Inf" : value == -.infinity ? "-Inf" : "\(value)"
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
