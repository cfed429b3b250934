import EskerLog

/// Nothing is damaged in any round, so a verification finds nothing.
enum Verification {
  static func run(_ scene: Scene, _ store: LogStore, _ what: String) {
    guard let report = scene.expectNoError("verification throws", "verify() of \(what)", { try store.verify() }) else {
      return
    }
    scene.ledger.add(.verifications)
    // A killed writer leaves one copy of the manifest half written; the next edit replaces it.
    let damage = report.damage.filter { scene.ledger[.kills] == 0 || !$0.location.path.contains("manifest") }
    guard let first = damage.first else { return }
    let text = "\(damage.count) damaged ranges in \(what): \(first.location): \(first.reason) (\(first.length) bytes)"
    scene.findings.report(Finding("verification finds damage", text))
  }
}
