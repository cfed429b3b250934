import EskerLog
import EskerPlatform
import EskerTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Keeps the store open while the writer goes on, is killed, and comes back.
struct Follower {
  private let scene: Scene
  private let store: LogStore
  private let parent: pid_t
  /// How often it looks before it is opened anew.
  private let looks: Int
  private var draw: SeededGenerator

  init(_ scene: Scene, _ parent: pid_t) throws {
    self.scene = scene
    self.parent = parent
    store = try LogStore(at: scene.storePath, options: scene.options(readOnly: true))
    scene.ledger.add(.openings)
    draw = SeededGenerator(seed: scene.seed(for: 5) ^ scene.ledger.pulse(scene.participant))
    looks = [20, 200, 100_000].randomElement(using: &draw) ?? 200
  }

  func run() throws {
    let isEnding = EndMark()
    var threads = [try WorkerThread(name: "getter") { [self] in get(until: isEnding) }]
    if scene.configuration.verifying != 0 {
      threads.append(try WorkerThread(name: "verifier") { [self] in verify(until: isEnding) })
    }
    follow()
    isEnding.set()
    for thread in threads { thread.join() }
    _ = scene.expectNoError("closing throws", "close of a reader") { try store.close() }
  }

  private func follow() {
    let ledger = scene.ledger
    var look = Look(scene, store, work: 6)
    var backups = Backups(scene, work: 7)
    var draw = draw
    var shown = store.lastSequence.rawValue
    var left = looks
    while left > 0, ledger[.isOver] == 0 {
      left -= 1
      ledger.beat(scene.participant)
      if getppid() != parent { exitProcess(4) }
      let rest = ledger.isResting ? ledger[.restReached] : 0
      let isAtRest = rest != 0 && rest == ledger[.restAsked] && ledger.reached(scene.participant) < rest
      let expected = isAtRest ? ledger[.restSequence] : ledger.acknowledged(scene.scripts.count)
      _ = scene.expectNoError("refresh throws", "refresh()") { try store.refresh() }
      ledger.add(.refreshes)
      let number = store.lastSequence.rawValue
      if number < shown {
        scene.findings.report(Finding("reader goes back", "from #\(shown) to #\(number)"))
      }
      if number < expected || isAtRest && number != expected {
        let kind = isAtRest ? "reader stands still" : "refresh is behind"
        let text = "refresh() reached #\(number), expected \(isAtRest ? "" : "at least ")#\(expected)"
        scene.findings.report(Finding(kind, text))
      }
      shown = max(shown, number)
      if isAtRest {
        look.walk(pauses: 0, isRepeated: true, sequence: expected)
        ledger.setReached(scene.participant, rest)
      } else if !draw.oneIn(3) {
        look.next()
        if scene.configuration.backups != 0, draw.oneIn(10) { backups.next(of: store, by: "a follower") }
      } else if draw.oneIn(4) {
        scene.waitForPuts(Int.random(in: 1...5000, using: &draw))
      }
    }
  }

  /// Reads bring the store up to date by themselves, now and then.
  private func get(until isEnding: EndMark) {
    var gets = Gets(scene, store, work: 8, isReader: true)
    while !isEnding.isSet {
      gets.next()
      pauseThread(microseconds: 200)
    }
  }

  private func verify(until isEnding: EndMark) {
    while !isEnding.isSet {
      Verification.run(scene, store, "a reader's store")
      _ = scene.expectNoError("read throws", "countExpired() of a reader") { try store.countExpired() }
      scene.waitForPuts(1000)
      pauseThread(microseconds: 2000)
    }
  }
}
