import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// One segment is merged once, and its addresses are given back once.
@Suite(.serialized, .timeLimit(.minutes(60))) struct MergeInputTests {
  private static func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number & 0xff), count: 400) }

  @Test func whatIsNotListedAnyMoreIsNotMergedAgain() throws {
    let store = try Machine().open { $0.merge.isAutomatic = false }
    let probe = store.probe
    for number in 0..<600 { try store.put(Self.value(number), forKey: "key \(number)") }
    try probe.endTail()
    let ids = Set(store.statistics.segments.filter(\.isSealed).map(\.id))
    do {
      let chosen = probe.segments.map(\.id).filter(ids.contains).compactMap { probe.hold($0) }
      #expect(chosen.count == ids.count)
      #expect(try probe.merge(chosen).inputs == chosen.count)
      // These were chosen before the last merge.
      #expect(try probe.merge(chosen).inputs == 0)
      #expect(store.statistics.merges == 1)
    }
    // Their addresses go to others.
    probe.collect()
    for number in 600..<1_200 { try store.put(Self.value(number), forKey: "key \(number)") }
    probe.collect()
    for number in 0..<1_200 { #expect(try store.get("key \(number)") == Self.value(number)) }
    #expect(try store.verify().isClean)
  }

  @Test func theTailIsNotMerged() throws {
    let store = try Machine().open { $0.merge.isAutomatic = false }
    let probe = store.probe
    for number in 0..<200 { try store.put(Self.value(number), forKey: "key \(number)") }
    #expect(try probe.mergeAll().inputs == 1)
    for number in 200..<220 { try store.put(Self.value(number), forKey: "key \(number)") }
    probe.collect()
    for number in 0..<220 { #expect(try store.get("key \(number)") == Self.value(number)) }
  }

  @Test func mergesInTheBackgroundAndOnDemandTakeEachSegmentOnce() throws {
    var machine = Machine()
    machine.background = .threads
    let log = EventLog()
    let store = try machine.open { options in
      options.merge.spaceAmplification = 1.1
      options.onEvent = { log.record($0) }
    }
    let keys = 300
    let done = SharedFlag()
    let errors = try onThreads(5) { thread in
      switch thread {
      case 0:
        defer { done.raise() }
        var generator = SeededGenerator(seed: 1)
        for number in 0..<150_000 {
          let key = Int.random(in: 0..<keys, using: &generator)
          try store.put(Self.value(number), forKey: "key \(key)")
        }
      case 1, 2:
        let some = (0..<32).map { "key \($0 * 9 + thread)" }
        while !done.isRaised {
          // As long as it goes over the values, what a merge gives up is still there.
          try store.withValues(forKeys: some) { (_, _) throws(StoreError) in Platform.yieldThread() }
        }
      case 3:
        // What the store's own thread does now and then, again and again.
        while !done.isRaised { store.probe.mergeStep() }
      default:
        while !done.isRaised { try store.merge() }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(log.damage.isEmpty)
    let failures = log.events.filter { if case .backgroundFailure = $0 { true } else { false } }
    #expect(failures.isEmpty, "\(failures)")
    #expect(try store.count() == keys)
    #expect(try store.verify().isClean)
    let contents = try store.contents()
    #expect(contents.count == keys)
    try store.close()
    #expect(try machine.open().contents() == contents)
  }
}
