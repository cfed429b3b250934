import EskerLog
import EskerTestSupport

/// Gets single keys of those that are always there, and several at once.
struct Gets {
  let scene: Scene
  let store: LogStore
  private let isReader: Bool
  private var draw: SeededGenerator

  init(_ scene: Scene, _ store: LogStore, work: Int, isReader: Bool) {
    self.scene = scene
    self.store = store
    self.isReader = isReader
    draw = SeededGenerator(seed: scene.seed(for: work))
  }

  /// Some gets.
  mutating func next(_ count: Int = 50) {
    let thread = Int.random(in: scene.scripts.indices, using: &draw)
    let script = scene.scripts[thread]
    let places = (0..<count).map { _ in Int.random(in: 0..<script.layout.start(.single), using: &draw) }
    let keys = places.map { scene.places.key($0, thread: thread) }
    // What a writer acknowledged is there at once; a reader shows at least what it says it has read.
    let least =
      isReader
      ? scene.ledger.lastWrites(shownAt: store.lastSequence.rawValue...store.lastSequence.rawValue, thread).lowerBound
      : scene.ledger.done(thread)
    let values: [[UInt8]?]?
    if Bool.random(using: &draw) {
      values = scene.expectNoError("read throws", "get of \(keys.count) keys at once") { try store.get(keys) }
    } else {
      values = scene.expectNoError("read throws", "get") { try keys.map { try store.get($0) } }
    }
    scene.ledger.add(.gets, count)
    let most = scene.ledger.begun(thread)
    for (place, value) in zip(places, values ?? []) {
      check(value, place, thread, between: script.number(at: place, after: least), and: most)
    }
  }

  private func check(_ value: [UInt8]?, _ place: Int, _ thread: Int, between least: UInt64, and most: UInt64) {
    let key = String(decoding: scene.places.key(place, thread: thread), as: UTF8.self)
    guard let value else {
      if scene.configuration.capacity == 0 {
        scene.findings.report(Finding("read lacks keys", "get of \(key): nothing, expected write \(least) or later"))
      }
      return
    }
    let number = value.withUnsafeBytes { ValueForm.number(of: $0) }
    guard let number, number >= least, number <= most,
      number == scene.scripts[thread].number(at: place, after: number)
    else {
      let seen = number.map { "that of write \($0)" } ?? "\(value.prefix(16))"
      let expected = "that of write \(least), or of a later one up to \(most)"
      scene.findings.report(Finding("read shows another value", "get of \(key): \(seen), expected \(expected)"))
      return
    }
  }
}
