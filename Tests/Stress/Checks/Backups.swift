import EskerLog
import EskerTestSupport
import EskerTools

/// Makes backups, opens them, and looks whether they are the store at the number that their report says.
struct Backups {
  private let scene: Scene
  private let work: Int
  private var draw: SeededGenerator
  private var count = 0
  private var floor: [UInt64]

  init(_ scene: Scene, work: Int) {
    self.scene = scene
    self.work = work
    draw = SeededGenerator(seed: scene.seed(for: work))
    floor = [UInt64](repeating: 0, count: scene.scripts.count)
  }

  /// Makes one backup and looks at it.
  mutating func next(of store: LogStore, by whom: String) {
    count += 1
    let path = "\(scene.directory)/backup-\(scene.participant)-\(work)"
    TemporaryDirectory.removeTree(path)
    let before = store.lastSequence.rawValue
    let copying = draw.oneIn(4)
    let report = scene.expectNoError("backup throws", "backup(to:) by \(whom)") {
      try store.backup(to: path, copying: copying)
    }
    guard let report else { return }
    if report.sequence.rawValue < before {
      let text = "a backup by \(whom) says up to \(report.sequence), expected at least #\(before)"
      scene.findings.report(Finding("backup is behind", text))
    }
    look(at: path, upTo: report.sequence.rawValue, by: whom)
    if draw.oneIn(4) { export(store, by: whom) }
    scene.ledger.add(.backups)
    TemporaryDirectory.removeTree(path)
  }

  private mutating func look(at path: String, upTo sequence: UInt64, by whom: String) {
    let forWriting = draw.oneIn(3)
    let verifies = draw.oneIn(2)
    let opened = scene.expectNoError("opening of a backup throws", "a backup up to #\(sequence) by \(whom)") {
      try LogStore(at: path, options: scene.options(readOnly: !forWriting))
    }
    guard let copy = opened else { return }
    if copy.lastSequence.rawValue != sequence {
      let text = "a backup by \(whom) says up to #\(sequence); opened, it is at \(copy.lastSequence)"
      scene.findings.report(Finding("backup is at another number", text))
    }
    let time = scene.time
    var census = Census(scene.places)
    var claim = Claim(subject: "backup", sequences: sequence...sequence, times: time...time, floor: floor)
    let walked: Void? = scene.expectNoError("backup throws", "a walk of a backup by \(whom)") {
      let snapshot = try copy.snapshot()
      claim.times = time...scene.time
      for entry in snapshot { try census.add(entry, scene.places) }
    }
    if walked != nil {
      let (findings, last) = scene.comparison.judge(census, claim)
      scene.findings.write(findings.map { Finding($0.kind, "made by \(whom): \($0.text)") })
      floor = last
    }
    if verifies { Verification.run(scene, copy, "a backup by \(whom)") }
    _ = scene.expectNoError("closing throws", "close of a backup") { try copy.close() }
  }

  /// A stream of a store at one number; read into another store, it has the same entries.
  private mutating func export(_ store: LogStore, by whom: String) {
    let before = (time: scene.time, sequence: store.lastSequence.rawValue)
    var stream: [UInt8] = []
    let exported = scene.expectNoError("export throws", "exportStream by \(whom)") {
      try store.exportStream { piece in piece.withUnsafeBytes { stream.append(contentsOf: $0) } }
    }
    guard let report = exported, report.sequence.rawValue >= before.sequence else {
      return scene.findings.report(Finding("export is behind", "by \(whom): expected at least #\(before.sequence)"))
    }
    let path = "\(scene.directory)/export-\(scene.participant)-\(work)"
    TemporaryDirectory.removeTree(path)
    defer { TemporaryDirectory.removeTree(path) }
    var census = Census(scene.places)
    let time = scene.time
    let read: Void? = scene.expectNoError("export throws", "import of what was exported by \(whom)") {
      // In it, nothing expires before it is looked at.
      var options = Options()
      options.segmentSize = scene.configuration.segment
      options.clock = Options.Clock(
        now: { WallTime(millisecondsSince1970: before.time) },
        uptimeNanoseconds: { 0 }
      )
      let copy = try LogStore(at: path, options: options)
      var given = 0
      try copy.importStream { most in
        let piece = Array(stream[given..<min(stream.count, given + most)])
        given += piece.count
        return piece
      }
      let snapshot = try copy.snapshot()
      for entry in snapshot { try census.add(entry, scene.places) }
      try copy.close()
    }
    guard read != nil else { return }
    // The copy has numbers of its own.
    let claim = Claim(
      subject: "export",
      sequences: report.sequence.rawValue...report.sequence.rawValue,
      times: before.time...time,
      floor: floor
    )
    let (findings, _) = scene.comparison.judge(census.withoutVersions, claim)
    scene.findings.write(findings.map { Finding($0.kind, "made by \(whom): \($0.text)") })
  }
}
