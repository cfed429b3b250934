import EskerPlatform
import EskerTestSupport
import EskerTools
import Foundation
import Testing

@testable import EskerFormat
@testable import EskerLog

@Suite struct PublishingTests {
  private func open(_ path: String, every interval: Duration? = .milliseconds(10)) throws(StoreError) -> LogStore {
    var options = Options()
    options.statisticsInterval = interval
    return try LogStore(at: path, options: options)
  }

  /// Looks until `condition` holds.
  private func wait(_ path: String, _ condition: (Statistics.Published) -> Bool) throws -> Statistics.Published? {
    var found: Statistics.Published?
    let isFound = try eventually {
      found = try LogStore.publishedStatistics(at: path)
      return found.map(condition) ?? false
    }
    return isFound ? found : nil
  }

  @Test func figuresAreThereFromTheOpeningToTheClosing() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try open(path)
    let first = try #require(try LogStore.publishedStatistics(at: path))
    #expect(first.processID == getpid())
    #expect(first.interval == .milliseconds(10))
    #expect(first.statistics.keys == 0)
    #expect(first.keyspaceCount == 1)
    #expect(first.statistics.settings == store.statistics.settings)
    for number in 0..<1000 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.sync()
    let later = try #require(
      try wait(path) { $0.statistics.keys == 1000 && $0.statistics.durableSequence.rawValue == 1000 }
    )
    let own = store.statistics
    #expect(later.uptime > first.uptime)
    #expect(later.statistics.recordsWritten == 1000)
    #expect(later.statistics.bytesLogged == own.bytesLogged)
    #expect(later.statistics.liveBytes == own.liveBytes)
    #expect(later.statistics.lastSequence == own.lastSequence)
    #expect(later.statistics.puts.count == own.puts.count)
    #expect(later.statistics.puts.maximum == own.puts.maximum)
    #expect(later.statistics.syncs.since(first.statistics.syncs).count >= 1)
    #expect(later.segmentCount == own.segments.count)
    try store.close()
    #expect(try LogStore.publishedStatistics(at: path) == nil)
    #expect(!FileManager.default.fileExists(atPath: path + "/statistics"))
  }

  @Test func nothingIsPublishedUnlessItIsAskedFor() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try open(path, every: nil)
    #expect(try LogStore.publishedStatistics(at: path) == nil)
    try store.close()
    #expect(try LogStore.publishedStatistics(at: directory.path + "/nothing") == nil)
  }

  @Test func whatAKilledProcessLeftIsIgnoredAndGoesWithTheNextWriter() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    var store = try open(path, every: .seconds(1000))
    try store.put("value", forKey: "key")
    let left = try Data(contentsOf: URL(fileURLWithPath: path + "/statistics"))
    try store.close()
    try left.write(to: URL(fileURLWithPath: path + "/statistics"))
    var options = Options()
    options.readOnly = true
    let reader = try LogStore(at: path, options: options)
    #expect(try reader.verify().isClean)
    #expect(try reader.get("key") == Array("value".utf8))
    try reader.backup(to: directory.path + "/backup")
    #expect(!FileManager.default.fileExists(atPath: directory.path + "/backup/statistics"))
    try reader.close()
    // Nobody holds the lock: these are no figures of a process that has the store open.
    #expect(try LogStore.publishedStatistics(at: path) == nil)
    #expect(try LogStore.salvage(from: path, to: directory.path + "/salvaged").isComplete)
    store = try open(path, every: nil)
    #expect(try LogStore.publishedStatistics(at: path) == nil)
    try store.close()
  }

  @Test func aStrangersFileOfThatNameStays() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try open(path, every: nil).close()
    let mine = Data("somebody else's figures, longer than an identity".utf8)
    try mine.write(to: URL(fileURLWithPath: path + "/statistics"))
    let failures = Guarded<[StoreEvent]>([])
    var options = Options()
    options.statisticsInterval = .milliseconds(10)
    options.onEvent = { event in
      if case .backgroundFailure = event { failures.withLock { $0.append(event) } }
    }
    let store = try LogStore(at: path, options: options)
    try store.put("value", forKey: "key")
    try store.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/statistics")) == mine)
    #expect(failures.withLock { $0.count } == 1)
    #expect(throws: StoreError.self) { try LogStore.publishedStatistics(at: path) }
  }

  /// A file that is named after what is in it.
  struct Stranger: CustomTestStringConvertible {
    var testDescription: String
    var contents: [UInt8]

    init(_ name: String, _ contents: [UInt8]) {
      testDescription = name
      self.contents = contents
    }
  }

  private static let others = StatisticsImage(storeID: StoreID(low: 1, high: 2)).encoded()

  @Test(arguments: [
    Stranger("zeros and a text", [UInt8](repeating: 0, count: 32) + bytes("precious")),
    Stranger("a zero too many", [UInt8](repeating: 0, count: StatisticsImage.length + 1)),
    Stranger("another store's figures", others), Stranger("the beginning of figures", bytes("ESKRSTA1")),
    Stranger("a page of zeros and another store's", [UInt8](repeating: 0, count: 4096) + others[4096...]),
  ])
  func aFileThatMayBeAStrangersStays(_ stranger: Stranger) throws {
    let contents = stranger.contents
    let machine = Machine()
    let store = try machine.open()
    let name = machine.path + "/statistics"
    let file = try machine.disk.open(name, .create)
    try file.writeAll(contents, at: 0)
    try store.close()
    try machine.open { $0.statisticsInterval = .seconds(1) }.close()
    let left = try machine.disk.open(name, .read)
    #expect(try left.allBytes() == contents)
  }

  @Test(arguments: [0, 1, StatisticsImage.length])
  func anAttemptThatLeftNothingGivesWay(_ count: Int) throws {
    let machine = Machine()
    let store = try machine.open()
    let name = machine.path + "/statistics"
    let file = try machine.disk.open(name, .create)
    try file.writeAll([UInt8](repeating: 0, count: count), at: 0)
    if count == 0 {
      #expect(try LogStore.publishedStatistics(at: machine.path, platform: machine.host.platform) == nil)
    }
    try store.close()
    let again = try machine.open { $0.statisticsInterval = .seconds(1) }
    #expect(try LogStore.publishedStatistics(at: machine.path, platform: machine.host.platform)?.keyspaceCount == 1)
    try again.close()
    #expect(try machine.disk.status(name) == nil)
  }

  /// Whether the store at the machine's path can publish, and takes its file away.
  private func expectPublished(_ machine: Machine, _ moment: String) throws {
    let log = EventLog()
    let store = try machine.open { options in
      options.statisticsInterval = .seconds(1)
      options.onEvent = { log.record($0) }
    }
    let platform = machine.host.platform
    #expect(try LogStore.publishedStatistics(at: machine.path, platform: platform)?.keyspaceCount == 1, "\(moment)")
    try store.close()
    #expect(try machine.disk.status(machine.path + "/statistics") == nil, "\(moment)")
    #expect(!log.events.contains { if case .backgroundFailure = $0 { true } else { false } }, "\(moment)")
  }

  @Test func aTornFileGivesWay() throws {
    let name = "/store/statistics"
    for (range, length) in [
      (0..<4096, 8192), (4096..<8192, 8192), (0..<512, 8192), (0..<8192, 8192), (8000..<8191, 8191), (0..<0, 4096),
      (0..<0, 32), (0..<4096, 4096), (40..<4096, 5000),
    ] {
      var machine = Machine()
      let store = try machine.open { $0.statisticsInterval = .seconds(1) }
      try store.put("v", forKey: "k", durability: .synced)
      machine.disk = try machine.disk.processKilled()
      let file = try machine.disk.open(name, .readWrite)
      try file.writeAll([UInt8](repeating: 0, count: range.count), at: range.lowerBound)
      try file.truncate(length)
      file.close()
      try expectPublished(machine, "zeros in \(range), \(length) bytes")
      store.probe.kill()
    }
  }

  @Test(arguments: [CrashPolicy.drop, .tear, .reorder, .keep])
  func aPowerCutLeavesNothingInTheWay(policy: CrashPolicy) throws {
    for seed in 0..<UInt64(6) {
      let plan = FaultPlan()
      var machine = Machine()
      try machine.open().close()
      let images = Guarded<[(FaultCall, SimulatedDisk)]>([])
      let generator = Guarded(SeededGenerator(seed: seed))
      let disk = machine.disk
      plan.onCall { call in
        guard let image = generator.withLock({ try? disk.crashImage(policy, using: &$0) }) else { return }
        images.withLock { $0.append((call, image)) }
      }
      let platform = Platform.simulated(fileSystem: FaultyFileSystem(disk, plan: plan), clock: machine.clock)
      let store = try LogStore(
        at: machine.path,
        options: machine.options { $0.statisticsInterval = .seconds(1) },
        host: StoreHost(platform: platform, background: .inline)
      )
      // Somebody else asks the disk to write; nobody waits for that.
      try store.put("v", forKey: "k", durability: .synced)
      plan.onCall(nil)
      for (call, image) in images.withLock({ $0 }) {
        machine.disk = image
        try expectPublished(machine, "seed \(seed), \(policy) before \(call)")
      }
      store.probe.kill()
    }
  }

  @Test func aFileThatIsJustBegunHasNothingPublished() throws {
    let machine = Machine()
    let plan = FaultPlan()
    let platform = Platform.simulated(
      fileSystem: FaultyFileSystem(machine.disk, plan: plan),
      clock: machine.clock,
      seed: 1
    )
    let looks = SharedCounter()
    plan.onCall { [disk = machine.disk, path = machine.path, reader = machine.host.platform] call in
      guard call.operation == .sync, call.path.hasSuffix("/statistics") else { return }
      #expect((try? disk.status(call.path))??.size == StatisticsImage.signatureLength)
      do throws(StoreError) {
        #expect(try LogStore.publishedStatistics(at: path, platform: reader) == nil)
      } catch {
        Issue.record("\(error)")
      }
      looks.add()
    }
    let store = try LogStore(
      at: machine.path,
      options: machine.options { $0.statisticsInterval = .seconds(1) },
      host: StoreHost(platform: platform, background: .inline)
    )
    plan.onCall(nil)
    #expect(looks.value == 1)
    try store.close()
  }

  @Test func aFailureIsToldOnceAndTheNextTryMayDo() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let plan = FaultPlan()
    let failures = Guarded(0)
    var options = Options()
    options.statisticsInterval = .milliseconds(10)
    options.onEvent = { event in
      if case .backgroundFailure("publish statistics", .noSpace) = event { failures.withLock { $0 += 1 } }
    }
    var host = StoreHost.system
    host.platform.fileSystem = FaultyFileSystem(OSFileSystem(), plan: plan)
    // The file cannot be made at first, and cannot be written later.
    for (number, operation) in [FaultOperation.create, .write].enumerated() {
      plan.fail(operation, on: .suffix("/statistics"), sticky: true, .error(PlatformError.noSpace))
      let tries = plan.callCount(of: operation)
      let store = try LogStore(at: path, options: options, host: host)
      #expect(eventually { plan.callCount(of: operation) >= tries + 10 })
      #expect(failures.withLock { $0 } == number + 1)
      #expect(try LogStore.publishedStatistics(at: path) == nil)
      plan.heal()
      #expect(try wait(path) { $0.keyspaceCount == 1 } != nil)
      try store.close()
      #expect(try OSFileSystem().status(path + "/statistics") == nil)
    }
  }

  @Test(arguments: [36, 39, 72, 79, 6600, 8187])
  func aReservedByteThatIsNotZeroIsDamage(_ offset: Int) throws {
    var bytes = StatisticsImage(storeID: StoreID(low: 1, high: 2)).encoded()
    bytes[offset] = 1
    StatisticsImage.envelope.seal(&bytes)
    #expect(throws: FormatError.damaged(reason: "a reserved byte is not zero", offset: offset)) { try decoded(bytes) }
  }

  @Test func theImageIsReadAsItWasWrittenAndEveryFlippedByteIsFound() throws {
    var image = StatisticsImage(storeID: StoreID(low: 1, high: 2))
    image.processID = 3
    image.openedAt = -4
    image.publishedAt = 5
    image.interval = 6
    image.uptime = 7
    for index in 0..<StatisticsImage.figureCount { image.figures[index] = UInt64(index) << 40 | 9 }
    image.histograms[2].counts[251] = 11
    image.histograms[1].total = 12
    image.settings.capacity = 1 << 40
    let bytes = image.encoded()
    #expect(bytes.count == StatisticsImage.length)
    #expect(try decoded(bytes) == image)
    for index in 0..<bytes.count {
      var damaged = bytes
      damaged[index] ^= 0x10
      #expect(throws: FormatError.self, "byte \(index)") { try decoded(damaged) }
    }
    #expect(throws: FormatError.self) { try decoded(Array(bytes[..<100])) }
  }

  private func decoded(_ bytes: [UInt8]) throws(FormatError) -> StatisticsImage {
    try StatisticsImage(decoding: ContiguousArray(bytes).span.bytes)
  }

  @Test func readersAndThePublisherDoNotDisturbEachOther() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try open(path)
    var looks = 0
    var published = 0
    var last: Duration = .zero
    // Some thousands, and until the publisher has had its turns.
    let hasPublished = try eventually {
      for _ in 0..<2000 {
        let found = try #require(try LogStore.publishedStatistics(at: path))
        #expect(found.uptime >= last)
        if found.uptime > last { published += 1 }
        last = found.uptime
        looks += 1
      }
      return published > 2
    }
    #expect(hasPublished && looks >= 2000)
    try store.close()
  }

  @Test func aHistogramTellsWhatCameSince() {
    var earlier = Statistics.Histogram()
    earlier.record(.microseconds(10))
    earlier.record(.microseconds(20))
    earlier.record(.seconds(1))
    var later = earlier
    later.record(.microseconds(20))
    later.record(.microseconds(30))
    let since = later.since(earlier)
    #expect(since.count == 2)
    #expect(since.total == .microseconds(50))
    #expect(since.maximum >= .microseconds(30) && since.maximum < .microseconds(40))
    var sum = earlier
    sum.add(since)
    #expect(sum.counts == later.counts && sum.count == 5 && sum.total == later.total)
    sum.record(.seconds(-1))
    #expect(sum.counts[0] == 1)
  }

  @Test func theLongestDurationsAreCountedAsSuch() {
    // One more nanosecond than 64 bits tell, and far more.
    for duration in [.seconds(18_446_744_073) + .nanoseconds(709_551_616), Duration.seconds(Int64.max)] {
      var histogram = Statistics.Histogram()
      histogram.record(duration)
      #expect(histogram.counts.last == 1)
      #expect(histogram.maximum == .nanoseconds(Int64.max))
    }
  }
}
