import EskerTestSupport
import Testing

@testable import EskerLog

/// Readers come and go beside a writer whose records take the room of others.
@Suite struct ReaderReuseTests {
  private struct Run {
    var machine = Machine()
    var generator: SeededGenerator
    var store: LogStore
    var model: [[UInt8]: [UInt8]] = [:]
    var readers: [LogStore] = []
    var number = 0
    var replaced = 0
    var log: [String] = []

    init(seed: UInt64) throws {
      generator = SeededGenerator(seed: seed)
      machine.reusesSpace = true
      store = try machine.open()
    }

    private mutating func key() -> [UInt8] { bytes("key \(Int.random(in: 0..<4, using: &generator))") }

    private mutating func value() -> [UInt8] {
      number += 1
      return bytes("value \(100_000 + number)") + [UInt8](repeating: 7, count: generator.oneIn(4) ? 100 : 40)
    }

    mutating func step() throws {
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<8:
        let count = Int.random(in: 1...20, using: &generator)
        log.append("\(count) puts")
        let before = store.probe.recordsReplaced
        for _ in 0..<count {
          let (key, value) = (key(), value())
          try store.put(value, forKey: key)
          model[key] = value
        }
        replaced += store.probe.recordsReplaced - before
      case 8..<10:
        let key = key()
        log.append("remove")
        try store.remove(key)
        model[key] = nil
      case 10:
        log.append("batch")
        let changes = [(key(), value()), (key(), value())]
        try store.write { (batch) throws(StoreError) in
          for (key, value) in changes { try batch.put(value, forKey: key) }
        }
        for (key, value) in changes { model[key] = value }
      case 11:
        log.append("sync")
        try store.sync()
      case 12:
        log.append("end of the tail")
        try store.probe.endTail()
      case 13:
        log.append("merge")
        try store.merge()
      case 14..<16 where readers.count < 2:
        log.append("a reader comes")
        readers.append(try machine.open { $0.readOnly = true })
      case 16 where !readers.isEmpty:
        log.append("a reader goes")
        try readers.removeFirst().close()
      case 17:
        log.append("closed and opened again")
        try store.close()
        store = try machine.open()
      case 18 where readers.isEmpty:
        log.append("killed")
        store.probe.kill()
        store = try machine.reopenAfterKill()
      case 19:
        log.append("checkpoint")
        store.probe.writeCheckpoint()
      default: break
      }
      try check()
    }

    private mutating func check() throws {
      #expect(try store.contents() == model, "\(generator.seed): \(log)")
      for reader in readers where generator.oneIn(2) {
        try reader.refresh()
        #expect(try reader.contents() == model, "\(generator.seed), a reader: \(log)")
        for (key, value) in model { #expect(try reader.get(key) == value, "\(generator.seed): \(log)") }
        if generator.oneIn(8) { #expect(try reader.verify().isClean, "\(generator.seed): \(log)") }
      }
    }
  }

  @Test func readersSeeWhatTheWriterWrote() throws {
    var seeds = SeededGenerator(announcedFor: "ReaderReuseTests")
    var replaced = 0
    for _ in 0..<Rounds.count(40, thorough: 1_500) {
      var run = try Run(seed: seeds.next() >> 32)
      for _ in 0..<40 { try run.step() }
      replaced += run.replaced
      for reader in run.readers { try reader.close() }
      try run.store.close()
    }
    #expect(replaced > 0)
  }

  /// Neither the first of a segment, nor another one.
  @Test(arguments: [0, 20]) func nothingIsReplacedBesideAReader(replacedBefore count: Int) throws {
    var machine = Machine()
    machine.reusesSpace = true
    let store = try machine.open()
    var (number, contents) = (0, [[UInt8]: [UInt8]]())
    func put() throws {
      store.probe.collect()
      let (key, value) = (bytes("key \(number % 4)"), bytes("value \(100_000 + number)"))
      try store.put(value, forKey: key)
      contents[key] = value
      number += 1
    }
    while store.probe.recordsReplaced < count || number < 4 { try put() }
    let replaced = store.probe.recordsReplaced
    #expect((replaced == 0) == (count == 0))
    let reader = try machine.open { $0.readOnly = true }
    let (snapshot, before) = (try reader.snapshot(), contents)
    for _ in 0..<40 { try put() }
    #expect(store.probe.recordsReplaced == replaced)
    #expect(try snapshot.contents() == before)
    try reader.refresh()
    #expect(try reader.contents() == contents)
    try reader.close()
    try store.close()
  }
}
