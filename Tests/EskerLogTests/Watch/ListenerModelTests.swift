import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Random writes of every kind: what a listener hears is what the store holds.
@Suite struct ListenerModelTests {
  /// A store, a listener on two of its keyspaces, and a generator that decides what is done.
  private struct Run {
    let machine: Machine
    let store: LogStore
    let spaces: [Keyspace]
    let mirrors = [Mirror(), Mirror()]
    var random: SeededGenerator

    init(_ random: SeededGenerator, capacity: Int? = nil, compression: Options.Compression = .off) throws {
      machine = Machine()
      self.random = random
      store = try machine.open {
        $0.capacity = capacity
        $0.compression = compression
      }
      spaces = [store.default, try store.keyspace("other")]
      for (space, mirror) in zip(spaces, mirrors) { try space.addListener(mirror) }
    }

    private mutating func key() -> [UInt8] { bytes("key \(Int.random(in: 0..<60, using: &random))") }

    private mutating func value() -> [UInt8] {
      if random.oneIn(3) { return random.bytes(Int.random(in: 0..<40, using: &random)) }
      return bytes(String(repeating: "value \(random.next() % 9) ", count: Int.random(in: 1..<40, using: &random)))
    }

    private mutating func expiry() -> Expiry {
      random.oneIn(3) ? .after(.seconds(Int.random(in: -1..<20, using: &random))) : .never
    }

    mutating func step() throws {
      let space = spaces[Int.random(in: 0..<2, using: &random)]
      let key = key()
      switch Int.random(in: 0..<40, using: &random) {
      case 0..<12: try space.put(value(), forKey: key, expiry: expiry())
      case 12..<17: try space.remove(key)
      case 17..<20:
        let answer: Update = random.oneIn(3) ? .remove : .put(value(), expiry: expiry())
        try space.update(forKey: key) { _ in answer }
      case 20..<22: try space.append(value(), toKey: key)
      case 22..<24: try space.touch(key, expiry: expiry())
      case 24: try space.persist(key)
      case 25..<27: try space.putIfAbsent(value(), forKey: key, expiry: expiry())
      case 27: try space.compareAndSet(value(), forKey: key, ifVersion: store.lastSequence)
      case 28: try space.increment("counter", by: 3)
      case 29..<33: try batch()
      case 33..<36: machine.clock.advance(milliseconds: Int64.random(in: 0..<4000, using: &random))
      case 36: if random.oneIn(10) { try space.removeAll() }
      case 37: if random.oneIn(3) { try space.removeExpired() }
      default: if random.oneIn(4) { try store.merge() }
      }
    }

    private mutating func batch() throws {
      let count = Int.random(in: 0..<6, using: &random)
      let writes = (0..<count).map { _ in (key(), random.oneIn(3) ? nil : value(), expiry(), random.oneIn(2) ? 0 : 1) }
      try store.write { (batch) throws(StoreError) in
        for (key, value, expiry, space) in writes {
          if let value {
            try batch.put(value, forKey: key, in: spaces[space], expiry: expiry)
          } else {
            try batch.remove(key, in: spaces[space])
          }
        }
      }
      for space in Set(writes.map(\.3)) { #expect(mirrors[space].lastBatch == store.lastSequence.rawValue) }
    }

    /// Compares what was heard with what is there, once all that expired is taken out.
    func check() throws {
      try store.removeAllExpired()
      for (space, mirror) in zip(spaces, mirrors) {
        #expect(mirror.faults.first?.prefix(200) == nil)
        let isTheSame = try mirror.contents == store.contents(of: space)
        #expect(isTheSame)
      }
    }
  }

  @Test(arguments: [Options.Compression.off, .lz4]) func whatIsHeardOfRandomWritesIsWhatIsThere(
    _ compression: Options.Compression
  )
    throws
  {
    var seeds = SeededGenerator(announcedFor: "whatIsHeardOfRandomWritesIsWhatIsThere")
    for _ in 0..<6 {
      var run = try Run(seeds.split(), compression: compression)
      for number in 1...1500 {
        try run.step()
        if number % 300 == 0 { try run.check() }
      }
      let counts = run.mirrors[0].counts
      #expect(counts.puts > 200 && counts.removals > 30 && counts.expiries > 10 && counts.evictions == 0)
      try run.store.close()
    }
  }

  /// Whoever is told of a batch may go on behind its number.
  @Test func aBatchEndsOnceItsNumberIsVisible() throws {
    final class Ear: ChangeListener {
      let heard = Guarded<[String]>([])
      let visible: @Sendable () -> UInt64

      init(_ visible: @escaping @Sendable () -> UInt64) { self.visible = visible }

      func receive(_ key: [UInt8]?, _ change: () -> KeyspaceChange) { heard.withLock { $0.append("change") } }
      func beginBatch(_ sequence: UInt64) { heard.withLock { $0.append("begin \(sequence)") } }
      func endBatch() { heard.withLock { $0.append("end at \(visible())") } }
    }
    let store = try Machine().open()
    let other = try store.keyspace("other")
    let ears = [store.default, other].map { _ in Ear { [engine = store.engine] in engine.publishedSequence } }
    for (space, ear) in zip([store.default, other], ears) { try space.addListener(ear) }
    try store.put("alone", forKey: "a")
    try store.write { (batch) throws(StoreError) in
      try batch.put("1", forKey: "a")
      try batch.put("2", forKey: "b")
      try batch.put("3", forKey: "c", in: other)
    }
    try store.write { (batch) throws(StoreError) in try batch.put("1", forKey: "a") }
    #expect(
      ears[0].heard.withLock { $0 } == [
        "change", "begin 4", "change", "change", "end at 4", "begin 5", "change", "end at 5",
      ]
    )
    #expect(ears[1].heard.withLock { $0 } == ["begin 4", "change", "end at 4"])
    try store.close()
  }

  @Test func whatIsHeardOfACacheIsWhatItHolds() throws {
    var seeds = SeededGenerator(announcedFor: "whatIsHeardOfACacheIsWhatItHolds")
    var evictions = 0
    var expiries = 0
    var runs = 0
    // One that is emptied at the wrong moments evicts hardly anything.
    while runs < 3 || (runs < 30 && (evictions <= 20 || expiries <= 20)) {
      runs += 1
      var run = try Run(seeds.split(), capacity: 1 << 20)
      for number in 0..<2000 {
        try run.step()
        try run.store.put(run.random.bytes(900), forKey: "page \(number)", expiry: .after(.seconds(number % 2000)))
        if run.random.oneIn(3) { _ = try run.store.get("page \(Int.random(in: 0...number, using: &run.random))") }
        if number % 500 == 499 { try run.check() }
      }
      evictions += run.mirrors[0].counts.evictions
      expiries += run.mirrors[0].counts.expiries
      try run.store.close()
    }
    #expect(evictions > 20 && expiries > 20)
  }
}
