import EskerLog
import EskerTestSupport

/// Opens the store, looks at it, and closes it again.
struct Opener {
  private let scene: Scene
  private var floor: [UInt64]
  private var backups: Backups
  private var draw: SeededGenerator

  init(_ scene: Scene) {
    self.scene = scene
    floor = [UInt64](repeating: 0, count: scene.scripts.count)
    backups = Backups(scene, work: 2)
    draw = SeededGenerator(seed: scene.seed(for: 1))
  }

  mutating func next() {
    let ledger = scene.ledger
    // Read first: the writer is at rest until this process, too, says that it has looked.
    let rest = ledger.isResting ? ledger[.restReached] : 0
    let isAtRest = rest != 0 && rest == ledger[.restAsked] && ledger.reached(scene.participant) < rest
    let expected = isAtRest ? ledger[.restSequence] : ledger.acknowledged(scene.scripts.count)
    let opened = scene.expectNoError("opening throws", "a read-only opening") {
      try LogStore(at: scene.storePath, options: scene.options(readOnly: true))
    }
    guard let store = opened else { return }
    ledger.add(.openings)
    let number = store.lastSequence.rawValue
    if number < expected || isAtRest && number != expected {
      let text = "opened at #\(number), expected \(isAtRest ? "" : "at least ")#\(expected)"
      scene.findings.report(Finding(isAtRest ? "opening stands still" : "opening is behind", text))
    }
    var look = Look(scene, store, work: 3, floor: floor)
    if isAtRest {
      look.walk(pauses: 0, isRepeated: true, sequence: expected)
      ledger.setReached(scene.participant, rest)
    } else {
      // Mostly fast, since it is the opening itself that meets the writer.
      if draw.oneIn(4) { look.next() } else { look.walk(pauses: 0) }
      if draw.oneIn(4) {
        var gets = Gets(scene, store, work: 4, isReader: true)
        gets.next()
      }
      if scene.configuration.verifying != 0, draw.oneIn(3) { Verification.run(scene, store, "a fresh opening") }
      if scene.configuration.backups != 0, draw.oneIn(3) { backups.next(of: store, by: "a fresh opening") }
    }
    floor = look.floor
    _ = scene.expectNoError("closing throws", "close of a reader") { try store.close() }
  }
}
