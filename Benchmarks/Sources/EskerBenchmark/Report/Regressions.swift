import ArgumentParser

/// Checks whether a quick run shows Esker far slower than recorded.
struct Regressions {
  var runner: CellRunner
  var cells: [Cell]
  var note: (String) -> Void

  /// The shares that quick runs reached on a quiet machine: of the limit; where there is none, of Esker without an order, or of its gets.
  private static let recorded: [String: Double] = [
    "fill": 0.49, "fill-sequential": 0.55, "fill-4096B": 0.45, "fill-65536B": 0.38,
    "get": 0.65, "get-2-threads": 0.6, "get-zipfian": 0.5, "get-4096B": 0.55, "get-65536B": 0.5,
    "miss": 0.6, "multi-get": 0.25, "overwrite": 0.5, "delete": 0.27,
    "ycsb-a": 0.7, "ycsb-b": 0.5, "ycsb-c": 0.45, "ycsb-f": 0.7,
    "synced": 0.94, "synced-16-threads": 0.55, "synced-1000-tasks": 50, "open-scanned": 1,
    "hybrid-get": 0.35, "typed-set-json": 0.65, "typed-get-json": 0.87, "typed-set-binary": 0.55,
    "typed-get-binary": 0.14, "capacity-images": 2,
    // These beside other work.
    "ordered-fill": 0.45, "ordered-fill-sequential": 0.5, "ordered-get": 0.9, "ordered-overwrite": 0.9,
    "scan-100": 0.012, "scan-100-keys": 0.011, "scan-whole": 1.2, "scan-whole-keys": 0.8, "prefix": 0.03, "queue": 0.09,
  ]

  /// The operations a second, where the processor bounds them and not the limit: the faster a sync, the less is gained by sharing it.
  private static let recordedRates: [String: Double] = ["synced-1000-tasks": 430_000]

  /// A busy machine disturbs short runs; a mistake that matters costs more than this.
  private static let margin = 0.4

  /// Measures cells that seem too slow again, only Esker and what it is compared with; the best of up to ten runs counts.
  func check(_ results: [CellResult]) throws {
    var slow: [String] = []
    var alone = runner
    alone.subjects = [.limit, .esker, .eskerUnordered]
    alone.runs = 3
    let gets = results.first { $0.cell == "get" }?.rate(.esker)
    func compared(_ result: CellResult) -> Spread? {
      result.ratio(.esker, to: .limit) ?? result.ratio(.esker, to: .eskerUnordered)
        ?? gets.flatMap { gets in Spread(result.measurements(.esker).map { $0.rate / gets }) }
    }
    for result in results {
      guard let recorded = Regressions.recorded[result.cell], let reached = compared(result),
        let cell = cells.first(where: { $0.id == result.cell })
      else { continue }
      let wanted = recorded * Regressions.margin
      // The share that is as far from what was recorded as the rate is.
      func share(byRateOf result: CellResult) -> Double {
        guard let rate = Regressions.recordedRates[result.cell] else { return 0 }
        return recorded * (result.rate(.esker) ?? 0) / rate
      }
      var best = max(reached.median, share(byRateOf: result))
      var attempts = 3
      while best < wanted && attempts > 0 {
        note("\(result.cell): a share of \(Format.ratio(best)), \(Format.ratio(recorded)) was recorded; once more")
        let again = try alone.run(cell)
        best = max(best, compared(again)?.most ?? 0, share(byRateOf: again))
        attempts -= 1
      }
      if best < wanted { slow.append("\(result.cell): \(Format.ratio(best)), wanted \(Format.ratio(wanted))") }
    }
    if slow.isEmpty { return }
    note("Slower than it was, as a share of what it is compared with:\n" + slow.joined(separator: "\n"))
    throw ExitCode.failure
  }
}
