import EskerLog
import EskerPlatform

/// Writes what its script says, from where the thread of that number was interrupted.
final class ScriptThread: Sendable {
  private let scene: Scene
  private let store: LogStore
  private let script: Script
  private let gate: Gate
  private let keys: [[UInt8]]
  /// Bytes that a round may log, so that it fills neither the disk nor the memory.
  private static let mostBytes = 1 << 29
  /// Bytes that one writer may log on a disk that loses power, which is small.
  private static let mostBytesOfALife = 24 << 20

  init(_ scene: Scene, _ store: LogStore, _ script: Script, _ gate: Gate) {
    self.scene = scene
    self.store = store
    self.script = script
    self.gate = gate
    keys = (0..<script.layout.count).map { scene.places.key($0, thread: script.thread) }
  }

  func run() {
    let ledger = scene.ledger
    let life = ledger[.life]
    let first = ledger.done(script.thread) + 1
    var number = first
    let perWrite = script.layout.width(.hot) * (scene.configuration.value + 40)
    let most =
      scene.mailbox == nil ? Self.mostBytes : Int(first) * perWrite * scene.scripts.count + Self.mostBytesOfALife
    let last = UInt64(min(ledger.capacity - 2, most / perWrite / scene.scripts.count))
    _ = scene.expectNoError("write throws", "a write") {
      let other = try store.keyspace(Places.other)
      let emptied = try store.keyspace(Places.emptied(script.thread))
      while ledger[.lifeToEnd] < life, ledger[.isOver] == 0 {
        if ledger.isResting || number > last {
          rest()
          continue
        }
        if script.thread == Layout.clockThread {
          // After a cut, writes are made again, but the time does not go back.
          ledger[.clock] = UInt64(bitPattern: max(scene.time, Script.time(of: number)))
        }
        ledger.begin(number, of: script.thread)
        let sequence = try write(number, other, emptied)
        // One that a killed writer had begun may have got a number then, too.
        let isExact = sequence != nil && number > first
        ledger.end(
          number,
          of: script.thread,
          sequence: sequence ?? store.lastSequence.rawValue,
          isExact: isExact
        )
        if isSynced(number) { scene.tellDurable(number, of: script.thread) }
        if number % 64 == 0, scene.configuration.pause > 0 { pauseThread(microseconds: scene.configuration.pause) }
        number += 1
      }
    }
  }

  private func rest() {
    gate.enter()
    pauseThread(microseconds: 200)
    while scene.ledger.isResting, scene.ledger[.isOver] == 0 { pauseThread(microseconds: 200) }
    gate.leave()
  }

  /// Makes a write. Its number in the store, if that can be known.
  private func write(_ number: UInt64, _ other: Keyspace, _ emptied: Keyspace) throws(StoreError) -> UInt64? {
    let value = script.value(of: number)
    let durability = durability(of: number)
    switch script.write(number) {
    case .run(let first, 1):
      return try store.put(value, forKey: keys[first], durability: durability).rawValue
    case .run(let first, let count):
      try store.write(durability: durability) { (batch) throws(StoreError) in
        for place in first..<first + count { try batch.put(value, forKey: keys[place]) }
      }
      return try store.metadata(forKey: keys[first + count - 1])?.version.rawValue
    case .put(let place):
      let keyspace = place >= script.layout.start(.reset) ? emptied : store.default
      return try keyspace.put(value, forKey: keys[place], durability: durability).rawValue
    case .putExpiring(let place, let instant):
      let expiry = Expiry.at(WallTime(millisecondsSince1970: instant))
      return try store.put(value, forKey: keys[place], expiry: expiry, durability: durability).rawValue
    case .remove(let place):
      guard mix(scene.seed, number) % 2 == 0 else {
        try store.remove(keys[place], durability: durability)
        return nil
      }
      // The same as the range that has this key alone.
      let range = KeyRange.from(keys[place]).through(keys[place])
      let removed = try store.removeAll(in: range, durability: durability)
      if removed > 1 { scene.findings.report(Finding("removal of a range", "of one key: \(removed) are gone")) }
      return nil
    case .swap(let from, let to):
      let (source, target) = to > from ? (store.default, other) : (other, store.default)
      try store.write(durability: durability) { (batch) throws(StoreError) in
        try batch.remove(keys[from], in: source)
        try batch.put(value, forKey: keys[to], in: target)
      }
      return try target.metadata(forKey: keys[to])?.version.rawValue
    case .reset:
      try emptied.removeAll(durability: durability)
      return nil
    }
  }

  /// Whether a write that has returned is durable.
  private func isSynced(_ number: UInt64) -> Bool {
    scene.configuration.synced == 2 || scene.configuration.synced == 1 && mix(scene.seed, number) % 256 < 4
  }

  private func durability(of number: UInt64) -> Durability? {
    guard scene.configuration.synced == 1 else { return nil }
    switch mix(scene.seed, number) % 256 {
    case 0..<4: return scene.configuration.planted == 0 ? .synced : .buffered
    case 4..<6: return .periodic(.milliseconds(5))
    default: return .buffered
    }
  }
}
