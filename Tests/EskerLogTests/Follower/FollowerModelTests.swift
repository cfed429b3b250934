import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Readers that look seldom, beside a writer that does anything at random, is killed and goes on: after a look, a reader shows what the
/// writer does, however much came and went in between.
@Suite struct FollowerModelTests {
  @Test(arguments: [nil, 512 << 10, 4 << 20])
  func afterARefreshAReaderShowsWhatTheWriterDoes(capacity: Int?) throws {
    var seeds = SeededGenerator(announcedFor: "FollowerModelTests, capacity \(capacity ?? 0)")
    // One with 4 MiB takes as long as forty without a capacity.
    for number in 0..<Rounds.count(capacity == 4 << 20 ? 1 : 3, thorough: 400) {
      let generator = number == 0 ? seeds : seeds.split()
      do { try Session(generator, capacity).run() } catch {
        Issue.record("seed \(generator.seed): \(error)")
        return
      }
    }
  }
}

extension FollowerModelTests {
  /// One store, from its creation on.
  private final class Session {
    private static let stepCount = 150
    private static let mostReaders = 3

    private let bench: CrashRun
    private let capacity: Int?
    private var workload: CrashWorkload
    private var generator: SeededGenerator
    private var readers: [LogStore] = []
    private let events = EventLog()
    /// What was done, for a message.
    private var trail: [String] = []

    init(_ generator: SeededGenerator, _ capacity: Int?) {
      var generator = generator
      let clock = FakeClock()
      self.capacity = capacity
      bench = CrashRun(
        disk: SimulatedDisk(),
        clock: clock,
        history: CrashHistory(),
        generator: generator.split(),
        points: .one(after: .max),
        tally: CrashRun.Tally(),
        capacity: capacity,
        trail: "",
        depth: 0
      )
      workload = CrashWorkload(generator: generator.split(), clock: clock, capacity: capacity)
      self.generator = generator
    }

    func run() throws {
      var writer = try bench.open(checksPoints: false)
      for _ in 0..<Self.stepCount {
        let step = workload.next()
        trail.append("\(step)".prefix(40).description)
        try bench.take(step, on: &writer)
        if generator.oneIn(30) {
          trail.append("kill")
          writer.probe.kill()
          writer = try bench.open(checksPoints: false)
        }
        if generator.oneIn(15) {
          trail.append("spare")
          writer.probe.prepareSpare()
        }
        if readers.count < Self.mostReaders, generator.oneIn(8) {
          trail.append("open")
          readers.append(try openReader())
        }
        guard !readers.isEmpty, generator.oneIn(5) else { continue }
        let number = Int.random(in: 0..<readers.count, using: &generator)
        trail.append("refresh \(number)")
        try readers[number].refresh()
        try compare(readers[number], writer)
        if generator.oneIn(8) { try readers.remove(at: number).close() }
      }
      for reader in readers { try reader.close() }
      try writer.close()
    }

    private func openReader() throws -> LogStore {
      var options = Options()
      options.readOnly = true
      options.clock = .fake(bench.clock)
      options.onEvent = { [events] event in events.record(event) }
      let platform = Platform.simulated(fileSystem: bench.disk, clock: bench.clock, seed: generator.next())
      return try LogStore(at: bench.path, options: options, host: StoreHost(platform: platform, background: .inline))
    }

    private func compare(_ reader: LogStore, _ writer: LogStore) throws {
      guard reader.lastSequence == writer.lastSequence else {
        throw wrong("the reader is at \(reader.lastSequence), the writer at \(writer.lastSequence)")
      }
      for name in try writer.keyspaceNames {
        let (mine, its) = (try reader.space(name), try writer.space(name))
        let contents = try writer.snapshot().contents(of: name)
        guard try reader.snapshot().contents(of: name) == contents, try mine.count() == its.count() else {
          throw wrong("keyspace '\(name)' differs")
        }
        let keys = contents.keys.sorted { $0.lexicographicallyPrecedes($1) }
        guard try mine.keys() == keys, try its.keys(order: .descending) == keys.reversed() else {
          throw wrong("keyspace '\(name)' differs in order")
        }
        for (key, value) in contents {
          guard try mine.get(key) == value else { throw wrong("a key of '\(name)' differs") }
        }
      }
      if generator.oneIn(4) {
        let report = try reader.verify()
        guard report.isClean else { throw wrong("\(report.damage)") }
      }
      let told = events.events.filter { event in
        switch event {
        case .damaged, .cut, .backgroundFailure: true
        default: false
        }
      }
      guard told.isEmpty else { throw wrong("\(told)") }
    }

    private func wrong(_ what: String) -> CrashFailure {
      CrashFailure(description: "\(what) after \(trail.suffix(60).joined(separator: ", "))")
    }
  }
}
