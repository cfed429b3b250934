import Esker

/// Damaged or lost ranges as lines: of each file the first few, and not too many of all; how many more there are, and what all come to.
struct DamageLines {
  /// A range.
  struct Range {
    var location: StoreError.Location
    var length: Int
    var reason: String
    var records: Int
  }

  /// How many ranges of a file are named.
  static let most = 20
  /// How many are named of all files together.
  static let mostInAll = 100

  private let ranges: [Range]
  private let noun: String

  /// - Parameter noun: What a range is called.
  init(_ ranges: [Range], _ noun: String) {
    self.ranges = ranges
    self.noun = noun
  }

  /// A line for each range, a line for those that are left out, and one for each file of several ranges.
  var text: String {
    var text = ""
    var order: [String] = []
    var files: [String: [Range]] = [:]
    for range in ranges {
      if files[range.location.path] == nil { order.append(range.location.path) }
      files[range.location.path, default: []].append(range)
    }
    var left = Self.mostInAll
    for (number, path) in order.enumerated() {
      guard left > 0 else {
        let rest = order[number...].map { files[$0] ?? [] }
        return text + "in \(NumberText.count(rest.count, "other file")): "
          + Self.sum(rest.flatMap { $0 }, "more \(noun)") + ", which --json names\n"
      }
      let all = files[path] ?? []
      let named = all.prefix(min(Self.most, left))
      left -= named.count
      for range in named { text += Self.line(range) }
      let more = all.count - named.count
      if more > 0 { text += "\(path): \(NumberText.count(more)) more \(noun)s, which --json names\n" }
      if all.count > 1 { text += "\(path): \(Self.sum(all, noun))\n" }
    }
    return text
  }

  /// What all ranges come to, as in `3 damaged ranges, 5 records`.
  var sum: String { Self.sum(ranges, noun) }

  private static func sum(_ ranges: [Range], _ noun: String) -> String {
    let records = ranges.reduce(0) { $0.addingReportingOverflow($1.records).partialValue }
    let count = NumberText.count(ranges.count, noun)
    return records > 0 ? "\(count), \(NumberText.count(records, "record"))" : count
  }

  private static func line(_ range: Range) -> String {
    // Missing data has no length.
    let length = range.length > 0 ? ", " + NumberText.count(range.length, "byte") : ""
    return "\(range.location)\(length): \(range.reason)\n"
  }
}

/// An argument as a shell takes it.
func quotedForShell(_ text: String) -> String {
  let isPlain = text.allSatisfy { !$0.isASCII || $0.isLetter || $0.isNumber || "-_./:=,@%+".contains($0) }
  return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
}
