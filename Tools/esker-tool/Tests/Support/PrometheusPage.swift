/// Reads the text format of Prometheus strictly, with the conventions on names, so that a test can ask for figures.
struct PrometheusPage {
  struct Fault: Error {
    let line: String
    let why: String
  }

  struct Sample: Hashable {
    var name: String
    var labels: [String: String]
    var value: Double
  }

  /// The kinds of the families by name.
  private(set) var families: [String: String] = [:]
  private(set) var samples: [Sample] = []

  init(_ text: String) throws(Fault) {
    guard text.hasSuffix("\n") else { throw Fault(line: text, why: "the last line does not end") }
    var helped: String?
    var family: String?
    for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      let words = line.split(separator: " ", maxSplits: 3).map(String.init)
      if line.hasPrefix("# HELP ") {
        guard words.count == 4, families[words[2]] == nil else {
          throw Fault(line: line, why: "no help, or a second one")
        }
        helped = words[2]
      } else if line.hasPrefix("# TYPE ") {
        guard words.count == 4, helped == words[2] else { throw Fault(line: line, why: "no help before") }
        try Self.checkName(words[2], words[3], line)
        families[words[2]] = words[3]
        family = words[2]
      } else {
        let sample = try Self.sample(line)
        guard let family, let kind = families[family], Self.belongs(sample.name, to: family, kind) else {
          throw Fault(line: line, why: "not of the family before it")
        }
        guard !samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
          throw Fault(line: line, why: "twice")
        }
        samples.append(sample)
      }
    }
    for (name, kind) in families {
      guard samples.contains(where: { Self.belongs($0.name, to: name, kind) }) else {
        throw Fault(line: name, why: "empty")
      }
      if kind == "histogram" { try checkHistogram(name) }
    }
  }

  /// The value of the one sample with these labels among others.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    let found = samples.filter { sample in
      sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }
    return found.count == 1 ? found[0].value : nil
  }

  private static func belongs(_ name: String, to family: String, _ kind: String) -> Bool {
    kind == "histogram" ? ["_bucket", "_sum", "_count"].contains { name == family + $0 } : name == family
  }

  private static func checkName(_ name: String, _ kind: String, _ line: String) throws(Fault) {
    guard ["counter", "gauge", "histogram"].contains(kind) else { throw Fault(line: line, why: "unknown type") }
    guard name.allSatisfy({ $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") }) else {
      throw Fault(line: line, why: "not a name")
    }
    guard (kind == "counter") == name.hasSuffix("_total") else {
      throw Fault(line: line, why: "_total is for counters")
    }
    let parts = name.split(separator: "_").map(String.init)
    let others = ["ms", "us", "ns", "milliseconds", "minutes", "kb", "mb", "kilobytes", "percent"]
    guard parts.allSatisfy({ !others.contains($0) }) else { throw Fault(line: line, why: "not a base unit") }
    if kind == "histogram", parts.last != "seconds" { throw Fault(line: line, why: "a histogram without its unit") }
  }

  private static func sample(_ line: String) throws(Fault) -> Sample {
    var rest = line[...]
    let name = String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    rest.removeFirst(name.count)
    var labels: [String: String] = [:]
    if rest.first == "{" {
      repeat {
        rest.removeFirst()
        let label = String(rest.prefix { $0.isLetter || $0 == "_" })
        rest.removeFirst(label.count)
        guard !label.isEmpty, rest.hasPrefix("=\""), labels[label] == nil else {
          throw Fault(line: line, why: "no label")
        }
        rest.removeFirst(2)
        labels[label] = try quoted(&rest, line)
      } while rest.first == ","
      guard rest.popFirst() == "}" else { throw Fault(line: line, why: "labels without an end") }
    }
    guard !name.isEmpty, rest.popFirst() == " ", let value = number(String(rest)) else {
      throw Fault(line: line, why: "not a sample")
    }
    return Sample(name: name, labels: labels, value: value)
  }

  private static func quoted(_ rest: inout Substring, _ line: String) throws(Fault) -> String {
    var text = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return text
      case "\\":
        switch rest.popFirst() {
        case "n": text.append("\n")
        case let escaped? where escaped == "\\" || escaped == "\"": text.append(escaped)
        default: throw Fault(line: line, why: "unknown escape")
        }
      default: text.append(character)
      }
    }
    throw Fault(line: line, why: "a label without an end")
  }

  private static func number(_ text: String) -> Double? {
    text == "+Inf" ? .infinity : text == "-Inf" ? -.infinity : Double(text)
  }

  /// Buckets add up, in order, to the count.
  private func checkHistogram(_ name: String) throws(Fault) {
    let buckets = samples.filter { $0.name == name + "_bucket" }
    let bounds = buckets.map { Self.number($0.labels["le"] ?? "") ?? .nan }
    guard bounds.count > 1, bounds.last == .infinity, zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 }),
      zip(buckets, buckets.dropFirst()).allSatisfy({ $0.value <= $1.value }),
      buckets.last?.value == value(name + "_count"), value(name + "_sum") != nil
    else { throw Fault(line: name, why: "not a histogram") }
  }
}
