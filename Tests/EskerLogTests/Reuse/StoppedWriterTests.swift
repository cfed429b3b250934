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

  /// A writer that has stopped while it replaced a record of `key 1` by another of the value 77.
  private struct StoppedWriter {
    let machine: Machine
    let gate = Gate()
    let store: LogStore
    let before: [[UInt8]: [UInt8]]
    private let thread: WorkerThread

    init(_ machine: Machine, afterPublications publications: Int) throws {
      self.machine = machine
      var host = machine.host
      let (disk, path, gate) = (machine.disk, machine.path, gate)
      host.onPublish = {
        gate.pass { (try? LockFile(in: path, disk).words())??.isReplacing == true }
      }
      let store = try LogStore(at: path, options: machine.options(), host: host)
      var number = 0
      while store.probe.recordsReplaced < 20 || number % 4 != 0 {
        try store.put(StoppedWriterTests.value(number), forKey: bytes("key \(number % 4)"))
        number += 1
      }
      before = try store.contents()
      // The snapshot has raised the floor.
      let replaced = store.probe.recordsReplaced
      while store.probe.recordsReplaced < replaced + 4 {
        for (key, value) in before { try store.put(value, forKey: key) }
      }
      gate.arm(afterPublications: publications)
      thread = try WorkerThread(name: "writer") {
        while !gate.hasStopped { _ = try? store.put(StoppedWriterTests.value(77), forKey: bytes("key 1")) }
      }
      while !gate.hasStopped { Platform.system.pause() }
      self.store = store
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
