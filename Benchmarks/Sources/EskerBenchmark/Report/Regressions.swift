import ArgumentParser

/// Whether a quick run shows Esker far slower than it was.
struct Regressions {
  var runner: CellRunner
  var cells: [Cell]
  var note: (String) -> Void

  /// Shares of the limit that quick runs reached on a quiet machine.
  private static let recorded: [String: Double] = [:]

  /// A busy machine disturbs short runs; a mistake that matters costs more than this.
  private static let margin = 0.4

  /// Measures again, the two sides alone, what seems to be too slow; the best of up to ten runs counts.
  func check(_ results: [CellResult]) throws {
    var slow: [String] = []
    var alone = runner
    alone.subjects = [.limit, .esker]
    alone.runs = 3
    for result in results {
      guard let recorded = Regressions.recorded[result.cell], let cell = cells.first(where: { $0.id == result.cell })
      else {
        continue
      }
      let wanted = recorded * Regressions.margin
      var best = result.ratio(.esker, to: .limit)?.median ?? 0
      var attempts = 3
      while best < wanted && attempts > 0 {
        note("\(result.cell): \(Format.ratio(best)) of the limit, \(Format.ratio(recorded)) was recorded; once more")
        best = max(best, try alone.run(cell).ratio(.esker, to: .limit)?.most ?? 0)
        attempts -= 1
      }
      if best < wanted { slow.append("\(result.cell): \(Format.ratio(best)), wanted \(Format.ratio(wanted))") }
    }
    if slow.isEmpty { return }
    note("Slower than it was, as a share of the limit:\n" + slow.joined(separator: "\n"))
    throw ExitCode.failure
  }
}
