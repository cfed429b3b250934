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
    machine.reusesRoom = true
    return machine
  }

  private static func value(_ number: Int) -> [UInt8] {
    bytes("value \(1_000_000 + number)") + [UInt8](repeating: 7, count: 40)
  }

  /// Before the record is there, and when it is but the writer has not said so.
  @Test(.timeLimit(.minutes(60)), arguments: [0, 1])
  func aReaderGoesOn(publications: Int) throws {
    let machine = machine
    let gate = Gate()
    var host = machine.host
    let (disk, path) = (machine.disk, machine.path)
    host.onPublish = {
      gate.pass { (try? LockFile(in: path, disk).words())??.isReplacing == true }
    }
    let store = try LogStore(at: path, options: machine.options(), host: host)
    var number = 0
    while store.probe.recordsReplaced < 20 || number % 4 != 0 {
      try store.put(Self.value(number), forKey: bytes("key \(number % 4)"))
      number += 1
    }
    let before = try store.contents()
    // The snapshot has raised the floor.
    let replaced = store.probe.recordsReplaced
    while store.probe.recordsReplaced < replaced + 4 {
      for key in 0..<4 { try store.put(try #require(before[bytes("key \(key)")]), forKey: bytes("key \(key)")) }
    }
    gate.arm(afterPublications: publications)
    let writer = try WorkerThread(name: "writer") {
      while !gate.hasStopped { _ = try? store.put(Self.value(77), forKey: bytes("key 1")) }
    }
    while !gate.hasStopped { Platform.system.pause() }

    var readersHost = machine.host
    readersHost.platform.clock = TickingClock(base: FakeClock())
    var options = machine.options()
    options.readOnly = true
    let events = EventLog()
    options.onEvent = { events.record($0) }
    let reader = try LogStore(at: path, options: options, host: readersHost)
    let shown = try reader.contents()
    #expect(events.damage.isEmpty, "\(events.events)")
    #expect(shown.filter { $0.key != bytes("key 1") } == before.filter { $0.key != bytes("key 1") })
    #expect([before[bytes("key 1")], Self.value(77)].contains(shown[bytes("key 1")]))
    #expect(try reader.verify().damage.isEmpty)

    gate.open()
    writer.join()
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
