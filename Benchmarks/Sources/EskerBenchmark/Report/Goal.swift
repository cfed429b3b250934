/// A goal for a cell, and how to decide whether it is met.
struct Goal: Sendable {
  var title: String
  var cell: String
  /// The key counts that it applies to.
  var keys: ClosedRange<Int> = 0...Int.max
  /// The goal in words.
  var wanted: String
  /// The measured value in words, and whether it meets the goal; nil if a side was not measured.
  var judge: @Sendable (_ result: CellResult, _ all: [CellResult]) -> (measured: String, isMet: Bool)?

  /// At least this many times the best peer's rate.
  static func peer(_ times: Double, _ title: String, _ cell: String, keys: ClosedRange<Int> = 0...Int.max) -> Goal {
    Goal(title: title, cell: cell, keys: keys, wanted: "\(Format.ratio(times)) × best peer") { result, _ in
      result.bestPeer.flatMap { compare(result, to: $0, times) }
    }
  }

  /// At least this many times one subject's rate.
  static func subject(_ times: Double, _ subject: Subject, _ title: String, _ cell: String) -> Goal {
    let wanted =
      subject == .limit ? "\(Format.ratio(times)) of the limit" : "\(Format.ratio(times)) × \(subject.rawValue)"
    return Goal(title: title, cell: cell, wanted: wanted) { result, _ in compare(result, to: subject, times) }
  }

  /// Batches against the transactions of another, of as many writes.
  static func batched(_ times: Double, _ other: Subject, _ title: String, _ cell: String) -> Goal {
    Goal(title: title, cell: cell, wanted: "\(Format.ratio(times)) × \(other.rawValue)") { result, _ in
      result.ratio(.eskerBatched, to: other).map { spread in
        ("\(Format.spread(spread)) × \(other.rawValue)", spread.median >= times)
      }
    }
  }

  static func limit(_ times: Double, _ title: String, _ cell: String) -> Goal {
    subject(times, .limit, title, cell)
  }

  /// At least this many times what the best peer does in another cell with as many keys.
  static func peer(_ times: Double, in other: String, _ title: String, _ cell: String) -> Goal {
    Goal(title: title, cell: cell, wanted: "\(Format.ratio(times)) × best peer in \(other)") { result, all in
      guard
        let compared = all.first(where: { $0.cell == other && $0.keys == result.keys }),
        let subject = compared.bestPeer,
        let mine = result.rate(.esker), let theirs = compared.rate(subject)
      else { return nil }
      return ("\(Format.ratio(mine / theirs)) × \(subject.rawValue)", mine / theirs >= times)
    }
  }

  /// At least so many operations a second.
  static func rate(_ least: Double, _ title: String, _ cell: String) -> Goal {
    Goal(title: title, cell: cell, wanted: "at least \(Format.rate(least))") { result, _ in
      result.rate(.esker).map { (Format.rate($0), $0 >= least) }
    }
  }

  /// A figure of Esker's that must be at most, or at least, this large.
  static func figure(_ name: String, _ bounds: PartialRangeThrough<Double>, _ title: String, _ cell: String) -> Goal {
    Goal(title: title, cell: cell, wanted: "at most \(Format.ratio(bounds.upperBound))") { result, _ in
      result.figure(name, .esker).map { (Format.ratio($0), bounds.contains($0)) }
    }
  }

  static func figure(_ name: String, _ bounds: PartialRangeFrom<Double>, _ title: String, _ cell: String) -> Goal {
    Goal(title: title, cell: cell, wanted: "at least \(Format.ratio(bounds.lowerBound))") { result, _ in
      result.figure(name, .esker).map { (Format.ratio($0), bounds.contains($0)) }
    }
  }

  private static func compare(_ result: CellResult, to other: Subject, _ times: Double) -> (String, Bool)? {
    result.ratio(.esker, to: other).map { spread in
      let name = other == .limit ? "" : " × \(other.rawValue)"
      return (Format.spread(spread) + name, spread.median >= times)
    }
  }
}

struct Verdict: Encodable {
  var title: String
  var keys: Int
  var wanted: String
  var measured: String
  var isMet: Bool
}
