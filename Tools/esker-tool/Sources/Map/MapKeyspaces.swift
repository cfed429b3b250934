import Esker

/// The keyspaces whose records take most, and what these are for.
struct MapKeyspaces {
  private let largest: [(name: String, figures: Statistics.Usage.Figures)]
  private let others: Int

  private static let most = 12

  init(_ keyspaces: [String: Statistics.Usage.Figures]) {
    let used = keyspaces.filter { $0.value.recordBytes > 0 }
    let sorted = used.sorted { ($1.value.recordBytes, $0.key) < ($0.value.recordBytes, $1.key) }
    largest = sorted.prefix(Self.most).map { (name: $0.key, figures: $0.value) }
    others = sorted.count - largest.count
  }

  func add(to writer: inout MarkupWriter) {
    guard !largest.isEmpty else { return }
    writer.element("h2", text: "Largest keyspaces")
    let rows = largest.map { name, figures in
      BarRows.Row(
        name: shownKeyspace(name),
        parts: [
          (.lasting, Double(figures.lasting.bytes)), (.expiring, Double(figures.expiring.bytes)),
          (.dead, Double(figures.reclaimableBytes)),
        ],
        figure: "\(HumanUnits.bytes(figures.recordBytes)), \(HumanUnits.count(figures.liveRecords, "key"))"
      )
    }
    BarRows(rows: rows).add(to: &writer)
    if others > 0 { writer.element("p", ["class": "lead"], text: "and \(HumanUnits.count(others)) smaller") }
  }
}
