import Foundation

struct MarkdownReport {
  var results: [CellResult]

  var text: String {
    [
      "## Summary\n\n" + summary, "## Goals\n\n" + goals, "## All figures\n\n" + everything, details,
      "## Settings\n\n" + settings,
    ].joined(separator: "\n\n") + "\n"
  }

  private var summary: String {
    let heading = ["cell", "keys", "limit", "Esker", "best peer", "Esker / limit", "Esker / best peer", "wanted"]
    let rows = results.map { result in
      let peer = result.bestPeer
      return [
        result.cell, Format.count(result.keys), Format.speed(result, .limit), Format.speed(result, .esker),
        peer.map { "\($0.rawValue) \(Format.speed(result, $0))" } ?? "-",
        Format.spread(result.ratio(.esker, to: .limit)),
        Format.spread(peer.flatMap { result.ratio(.esker, to: $0) }), result.goal,
      ]
    }
    return Format.table([heading] + rows)
  }

  private var goals: String {
    let heading = ["goal", "keys", "wanted", "measured", ""]
    let rows = GoalTable.verdicts(results).map { verdict in
      [
        verdict.title, Format.count(verdict.keys), verdict.wanted, verdict.measured,
        verdict.isMet ? "met" : "**missed**",
      ]
    }
    return rows.isEmpty ? "None was measured." : Format.table([heading] + rows)
  }

  private var everything: String {
    let heading = [
      "cell", "keys", "subject", "speed", "p50 / p99 / p99.9 / max", "disk MB", "memory MB", "resident MB",
      "written MB",
      "sum read",
    ]
    let rows = results.flatMap { result in
      result.measured.map { subject in
        [
          result.cell, Format.count(result.keys), subject.rawValue, Format.speed(result, subject),
          Format.latency(result.latency(subject)), Format.megabytes(result.bytes(\.diskBytes, subject)),
          Format.megabytes(result.bytes(\.memoryBytes, subject)),
          Format.megabytes(result.bytes(\.residentBytes, subject)),
          Format.megabytes(result.bytes(\.writtenBytes, subject)),
          result.measurements(subject).last.map { "\($0.checksum)" } ?? "-",
        ]
      }
    }
    return Format.table([heading] + rows)
  }

  private var details: String {
    let figures = results.flatMap { result in
      result.measured.flatMap { subject in
        result.figures(subject).map { figure in
          let keys = result.keys == 0 ? "" : ", \(Format.count(result.keys)) keys"
          return "- \(result.cell)\(keys), \(subject.rawValue): \(figure.name): \(String(format: "%.3g", figure.value))"
        }
      }
    }
    return (scaling + figures).joined(separator: "\n")
  }

  /// How gets scale with the number of threads.
  private var scaling: [String] {
    results.filter { $0.threads > 1 && $0.workload.isRead }.compactMap { many in
      guard
        let one = results.first(where: { $0.workload == many.workload && $0.keys == many.keys && $0.threads == 1 })
      else { return nil }
      let shares = many.measured.compactMap { subject -> String? in
        guard let upper = many.rate(subject), let lower = one.rate(subject) else { return nil }
        return "\(subject.rawValue) \(String(format: "%.2f", upper / lower))"
      }
      return "- \(many.cell), \(Format.count(many.keys)) keys, over one thread: \(shares.joined(separator: ", "))"
    }
  }

  private var settings: String {
    ([Machine.description] + Settings.lines(results)).map { "- " + $0 }.joined(separator: "\n")
  }
}
