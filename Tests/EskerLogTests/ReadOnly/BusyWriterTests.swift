import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A reader beside a writer that never pauses.
@Suite struct BusyWriterTests {
  /// What is written while a call catches up is for the next one: otherwise a call ends only if reading is faster than writing.
  @Test(arguments: ["opening", "refresh", "get", "snapshot"])
  func aCallReadsWhatWasThereWhenItBegan(_ call: String) throws {
    let machine = Machine()
    // All in one segment: a newer manifest takes effect once all is read that was durable then.
    let store = try machine.open { $0.segmentSize = 32 << 20 }
    let plan = FaultPlan()
    var host = machine.host
    host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan)
    var options = machine.options()
    options.readOnly = true
    func open() throws -> LogStore { try LogStore(at: machine.path, options: options, host: host) }
    func write(_ count: Int) throws {
      for number in 0..<count { try store.put(bytes("value \(number)"), forKey: bytes("key \(number % 100)")) }
    }
    try write(100)
    let first = try open()
    try write(3_000)

    let last = store.lastSequence
    let reads = SharedCounter()
    // The writer goes on as soon as the reader has looked how far it is: the last byte of the number is read apart from the others.
    plan.add(FaultRule(operation: .read, file: .suffix("LOCK"), sticky: true, effect: .split(at: LockFile.length - 1)))
    plan.onCall { call in
      guard call.operation == .read, call.path.hasSuffix("LOCK"), reads.add() % 2 == 0 else { return }
      for number in 0..<3_000 { _ = try? store.put("w", forKey: bytes("other \(number % 100)")) }
    }
    let reader = call == "opening" ? try open() : first
    switch call {
    case "refresh": try reader.refresh()
    case "get": _ = try reader.get("key 0")
    case "snapshot": _ = try reader.snapshot()
    default: break
    }
    #expect(reads.value >= 2)
    let shown = reader.lastSequence
    #expect(shown >= last && shown < store.lastSequence)
    plan.onCall(nil)
    plan.heal()
    try reader.refresh()
    #expect(reader.lastSequence == store.lastSequence)
    #expect(try reader.contents() == store.contents())
    if reader !== first { try reader.close() }
    try first.close()
    try store.close()
  }

  /// The file has become longer each time that the reader looks.
  @Test(arguments: ["refresh", "get", "snapshot"])
  func aCallThatFindsMoreAndMoreEnds(_ call: String) throws {
    let machine = Machine()
    let store = try machine.open { $0.segmentSize = 64 << 20 }
    let plan = FaultPlan()
    var watched = machine
    watched.calls = plan
    let reader = try watched.open { $0.readOnly = true }
    @Sendable func write() {
      let value = [UInt8](repeating: 1, count: 1_000)
      for number in 0..<3_000 { _ = try? store.put(value, forKey: bytes("key \(number % 100)")) }
    }
    write()
    let last = store.lastSequence
    let looks = SharedCounter()
    plan.onCall { call in
      guard call.operation == .fileStatus, call.path.hasSuffix(".segment"), looks.add() <= 3 else { return }
      write()
    }
    switch call {
    case "refresh": try reader.refresh()
    case "get": _ = try reader.get("key 0")
    default: _ = try reader.snapshot()
    }
    plan.onCall(nil)
    #expect(looks.value > 0)
    #expect(reader.lastSequence >= last && reader.lastSequence < store.lastSequence)
    try reader.refresh()
    #expect(reader.lastSequence == store.lastSequence)
    try reader.close()
    try store.close()
  }
}
