import EskerLog
import EskerTestSupport

/// Reads ranges of keys in order, while writes go on.
struct Scans {
  let scene: Scene
  let store: LogStore

  /// One range of each keyspace, upwards or downwards, which are drawn.
  func next(_ draw: inout SeededGenerator) {
    _ = scene.expectNoError("scan throws", "ranges") {
      for name in try [""] + store.keyspaceNames {
        let range = Self.range(&draw, scene)
        let order: KeyRange.Direction = draw.oneIn(2) ? .ascending : .descending
        let limit = draw.oneIn(3) ? Int.random(in: 1...300, using: &draw) : Int.max
        try read(name, range, order, limit)
      }
    }
  }

  /// Everything, one band, a part of one, or what is on one side of a key.
  static func range(_ draw: inout SeededGenerator, _ scene: Scene) -> KeyRange {
    let thread = Int.random(in: scene.scripts.indices, using: &draw)
    let layout = scene.scripts[thread].layout
    let key = scene.places.key(Int.random(in: 0..<layout.count, using: &draw), thread: thread)
    return switch Int.random(in: 0..<5, using: &draw) {
    case 0: .all
    case 1: .prefix(key.prefix(1))
    case 2: .prefix(key.prefix(4))
    case 3: .from(key)
    default: .upTo(key)
    }
  }

  private func read(_ name: String, _ range: KeyRange, _ order: KeyRange.Direction, _ limit: Int) throws {
    // Whoever reads in a reader sees at least what it says it has read.
    let shown = store.lastSequence.rawValue
    let least = scene.scripts.indices.map { scene.ledger.lastWrites(shownAt: shown...shown, $0).lowerBound }
    let entries: [(key: [UInt8], value: [UInt8])]
    do throws(StoreError) { entries = try store.keyspace(name).entries(in: range, order: order, limit: limit) } catch {
      if case .keyspaceRemoved = error { return }
      throw error
    }
    let what = "\(range) of '\(name)', \(order), at most \(limit)"
    Self.checkOrder(entries.map(\.key), range, order, what, scene)
    var isSeen = scene.scripts.map { [Bool](repeating: false, count: $0.layout.count) }
    // What a value may be takes time to say, so that is asked of some.
    let step = max(1, entries.count / 100)
    for (position, (key, value)) in entries.enumerated() {
      let text = String(decoding: key, as: UTF8.self)
      let found = key.withUnsafeBytes { scene.places.find($0, in: name) }
      let number = value.withUnsafeBytes { ValueForm.number(of: $0) }
      guard let (thread, place) = found, let number, number <= scene.ledger.begun(thread) else {
        let finding = Finding("scan shows what was never written", "\(what): \(text), \(value.prefix(16))")
        scene.findings.report(finding)
        continue
      }
      isSeen[thread][place] = true
      let script = scene.scripts[thread]
      guard position % step == 0, script.layout.isAlwaysThere(place) else { continue }
      if number < script.number(at: place, after: least[thread]) || number != script.number(at: place, after: number) {
        let finding = Finding("scan shows another value", "\(what): \(text) with that of write \(number)")
        scene.findings.report(finding)
      }
    }
    // What is always there is missed in no range that was read to its end.
    guard name.isEmpty, entries.count < limit, scene.configuration.capacity == 0 else { return }
    for thread in scene.scripts.indices {
      for place in 0..<scene.scripts[thread].layout.start(.single) where !isSeen[thread][place] {
        let key = scene.places.key(place, thread: thread)
        guard range.contains(key) else { continue }
        scene.findings.report(Finding("scan lacks keys", "\(what): \(String(decoding: key, as: UTF8.self))"))
        return
      }
    }
  }

  /// Keys are in the range, and each is behind the one before.
  static func checkOrder(
    _ keys: [[UInt8]],
    _ range: KeyRange,
    _ order: KeyRange.Direction,
    _ what: String,
    _ scene: Scene
  ) {
    let misplaced = zip(keys, keys.dropFirst()).first { before, behind in
      order == .ascending ? !before.lexicographicallyPrecedes(behind) : !behind.lexicographicallyPrecedes(before)
    }
    if let (before, behind) = misplaced {
      scene.findings.report(Finding("keys out of order", "\(what): \(behind) behind \(before)"))
    }
    if let outside = keys.first(where: { !range.contains($0) }) {
      scene.findings.report(Finding("keys out of range", "\(what): \(outside)"))
    }
  }
}
