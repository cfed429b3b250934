import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A reader beside a writer that is stopped while it replaces a record: by a debugger, a frozen container, a suspended app.
@Suite struct StoppedWriterTests {
  /// Stops the thread that replaces a record.
  private final class Gate: Sendable {
    /// How many publications of such a record may pass; nil if all.
    private let passes = Guarded<Int?>(nil)
    private let isReached = SharedFlag()
    private let isOpen = SharedFlag()

    func arm(afterPublications count: Int) { passes.withLock { $0 = count } }

    func pass(_ isReplacing: () -> Bool) {
      let stops = passes.withLock { passes in
        guard let left = passes, isReplacing() else { return false }
        passes = left == 0 ? nil : left - 1
        return left == 0
      }
      guard stops else { return }
      isReached.raise()
      while !isOpen.isRaised { Platform.system.pause() }
    }

    var hasStopped: Bool { isReached.isRaised }
    func open() { isOpen.raise() }
  }

  /// Moves on whenever it is read.
  private struct TickingClock: SystemClock {
    let base: FakeClock
    func wallMilliseconds() -> Int64 { base.wallMilliseconds() }
    func monotonicNanoseconds() -> UInt64 {
      base.advance(milliseconds: 1)
      return base.monotonicNanoseconds()
    }
  }

  private var machine: Machine {
    var machine = Machine()
    machine.reusesSpace = true
    return machine
  }

  private static func value(_ number: Int) -> [UInt8] {
    bytes("value \(1_000_000 + number)") + [UInt8](repeating: 7, count: 40)
  }

  /// A writer that has stopped while it replaced a record by one of `key 1` with the value 77.
  private struct StoppedWriter {
    let machine: Machine
    let gate = Gate()
    let store: LogStore
    let before: [[UInt8]: [UInt8]]
    private let thread: WorkerThread

    /// - Parameter prepare: What it writes before: the next record, or one soon after it, must take the room of a dead one.
    init(
      _ machine: Machine,
      afterPublications publications: Int,
      _ prepare: (LogStore) throws -> [[UInt8]: [UInt8]] = Self.replaceMany
    ) throws {
      self.machine = machine
      var host = machine.host
      let (disk, path, gate) = (machine.disk, machine.path, gate)
      host.onPublish = {
        gate.pass { (try? LockFile(in: path, disk).words())??.isReplacing == true }
      }
      let store = try LogStore(at: path, options: machine.options(), host: host)
      before = try prepare(store)
      gate.arm(afterPublications: publications)
      thread = try WorkerThread(name: "writer") {
        while !gate.hasStopped { _ = try? store.put(StoppedWriterTests.value(77), forKey: bytes("key 1")) }
      }
      while !gate.hasStopped { Platform.system.pause() }
      self.store = store
    }

    /// No two records have the same value: one that is missing, or an older one, is told from the others.
    private static func replaceMany(_ store: LogStore) throws -> [[UInt8]: [UInt8]] {
      var (number, contents) = (0, [[UInt8]: [UInt8]]())
      func write(untilReplaced count: Int) throws {
        while store.probe.recordsReplaced < count || number % 4 != 0 {
          store.probe.collect()
          let (key, value) = (bytes("key \(number % 4)"), StoppedWriterTests.value(1_000 + number))
          try store.put(value, forKey: key)
          contents[key] = value
          number += 1
        }
      }
      try write(untilReplaced: 20)
      // A snapshot raises the floor.
      #expect(try store.contents() == contents)
      try write(untilReplaced: store.probe.recordsReplaced + 4)
      return contents
    }

    func goOn() {
      gate.open()
      thread.join()
    }
  }

  /// Before the record is there, and when it is but the writer has not said so.
  @Test(.timeLimit(.minutes(60)), arguments: [0, 1])
  func aReaderGoesOn(publications: Int) throws {
    let writer = try StoppedWriter(machine, afterPublications: publications)
    let (machine, store, before) = (writer.machine, writer.store, writer.before)
    var readersHost = machine.host
    readersHost.platform.clock = TickingClock(base: FakeClock())
    var options = machine.options()
    options.readOnly = true
    let events = EventLog()
    options.onEvent = { events.record($0) }
    let reader = try LogStore(at: machine.path, options: options, host: readersHost)
    let shown = try reader.contents()
    #expect(events.damage.isEmpty, "\(events.events)")
    #expect(shown.filter { $0.key != bytes("key 1") } == before.filter { $0.key != bytes("key 1") })
    #expect([before[bytes("key 1")], Self.value(77)].contains(shown[bytes("key 1")]))
    #expect(try reader.verify().damage.isEmpty)

    writer.goOn()
    try reader.refresh()
    #expect(try reader.contents() == store.contents())
    #expect(reader.lastSequence == store.lastSequence)
    let count = store.probe.recordsReplaced
    for number in 100..<300 {
      try store.put(Self.value(number), forKey: bytes("key \(number % 4)"))
      if number % 20 == 0 { try reader.refresh() }
    }
    #expect(store.probe.recordsReplaced == count)
    try reader.refresh()
    #expect(try reader.contents() == store.contents())
    #expect(try reader.verify().isClean)
    #expect(events.damage.isEmpty, "\(events.events)")
    try reader.close()
    try store.close()
  }

  @Test(.timeLimit(.minutes(60)), arguments: [0, 1])
  func whatAKillLeavesIsRoomOrTheRecord(publications: Int) throws {
    let writer = try StoppedWriter(machine, afterPublications: publications)
    var killed = writer.machine
    let events = EventLog()
    let store = try killed.reopenAfterKill { $0.onEvent = { events.record($0) } }
    writer.goOn()
    var shown = try store.contents()
    let replaced = shown.removeValue(forKey: bytes("key 1"))
    #expect([writer.before[bytes("key 1")], Self.value(77)].contains(replaced))
    #expect(shown == writer.before.filter { $0.key != bytes("key 1") })
    #expect(events.damage.isEmpty && events.opening?.cut == nil, "\(events.events)")
    try store.close()
  }

  /// At each call that the reader makes after it has given up waiting: it reads half of what was before, and half of what is after.
  @Test(.timeLimit(.minutes(60)), arguments: [0, 1])
  func theWriterMayGoOnWhileAReaderOpens(publications: Int) throws {
    var (call, isReached) = (0, true)
    while isReached, call < 500 {
      call += 1
      let writer = try StoppedWriter(machine, afterPublications: publications)
      let (machine, store) = (writer.machine, writer.store)
      let plan = FaultPlan()
      let (waited, calls, wentOn) = (SharedFlag(), SharedCounter(), SharedFlag())
      let clock = FakeClock()
      let wanted = call
      plan.onCall { made in
        // It reads the lock file until the time has passed, and then goes on to the manifest.
        if made.path.hasSuffix("LOCK") { return clock.advance(milliseconds: 1) }
        if clock.monotonicNanoseconds() > 1_000_000_000 + LockFile.patience { waited.raise() }
        guard waited.isRaised, calls.add() == wanted else { return }
        wentOn.raise()
        writer.goOn()
        for number in 0..<3 { _ = try? store.put(Self.value(100 + number), forKey: bytes("key \(number)")) }
        try? store.sync()
        _ = try? store.put(Self.value(200), forKey: bytes("key 3"))
      }
      var host = machine.host
      host.platform.clock = clock
      host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan)
      var options = machine.options()
      options.readOnly = true
      let events = EventLog()
      options.onEvent = { events.record($0) }
      let reader = try LogStore(at: machine.path, options: options, host: host)
      isReached = wentOn.isRaised
      plan.onCall(nil)
      if !isReached { writer.goOn() }
      try reader.refresh()
      #expect(try reader.contents() == store.contents(), "call \(call)")
      #expect(reader.lastSequence == store.lastSequence, "call \(call)")
      #expect(events.damage.isEmpty, "call \(call): \(events.events)")
      #expect(try reader.verify().isClean, "call \(call)")
      try reader.close()
      try store.close()
    }
    #expect(call > 5 && !isReached)
  }

  /// Amid the only segment: the reader has passed the dead record whose room is taken, and meets what is written behind it.
  @Test func theWriterMayGoOnWhileAReaderReads() throws {
    let writer = try StoppedWriter(machine, afterPublications: 0) { store in
      func put(_ number: Int) throws {
        store.probe.collect()
        try store.put(Self.value(number), forKey: bytes("key \(number % 10)"))
      }
      try put(0)
      var number = 2
      while store.probe.recordsReplaced == 0 {
        try put(number % 2 == 0 ? 10 * number + 2 : 10 * number + 3)
        number += 1
      }
      // Two are free at once, of which the latter is given out first: what is left is in front of it.
      #expect(store.probe.recordsReplaced == 1)
      return [:]
    }
    let store = writer.store
    let plan = FaultPlan()
    let (isMapped, isReading, wentOn) = (SharedFlag(), SharedFlag(), SharedFlag())
    plan.onCall { call in
      let isOfSegment = call.path.hasSuffix(".segment")
      if isOfSegment, call.operation == .extend { isMapped.raise() }
      // It asks how far the writer is, and reads the records. The first one that is not the next has it look how much there is to add up.
      if call.path.hasSuffix("LOCK"), isMapped.isRaised { isReading.raise() }
      guard isOfSegment, call.operation == .fileStatus, isReading.isRaised, !wentOn.isRaised else { return }
      wentOn.raise()
      writer.goOn()
      do throws(StoreError) { try store.put(Self.value(5), forKey: bytes("key 5")) } catch { Issue.record("\(error)") }
    }
    var host = writer.machine.host
    host.platform.clock = TickingClock(base: FakeClock())
    host.platform.fileSystem = FaultyFileSystem(writer.machine.disk, plan: plan)
    var options = writer.machine.options()
    options.readOnly = true
    let events = EventLog()
    options.onEvent = { events.record($0) }
    let reader = try LogStore(at: writer.machine.path, options: options, host: host)
    plan.onCall(nil)
    #expect(wentOn.isRaised)
    try reader.refresh()
    #expect(try reader.contents() == store.contents())
    #expect(reader.lastSequence == store.lastSequence)
    #expect(events.damage.isEmpty, "\(events.events)")
    try reader.close()
    try store.close()
  }

  /// A writer that is stopped while it looks whether there are readers has one copy of the manifest locked.
  @Test(.timeLimit(.minutes(60)), arguments: ["manifest.a", "manifest.b"])
  func aReaderGoesOnBesideAWriterThatLooks(locked name: String) throws {
    let machine = machine
    let store = try machine.open()
    try store.put("v", forKey: "k")
    let copy = try machine.disk.open("\(machine.path)/\(name)", .read)
    #expect(try copy.tryLock(exclusive: true))
    var host = machine.host
    host.platform.clock = TickingClock(base: FakeClock())
    var options = machine.options()
    options.readOnly = true
    let reader = try LogStore(at: machine.path, options: options, host: host)
    #expect(try reader.get("k") == bytes("v"))
    copy.close()
    // The writer's next look finds it, whichever copy it has.
    #expect(ReaderPresence.isAny(in: machine.path, machine.disk))
    withExtendedLifetime(reader) {}
    try store.close()
  }
}
