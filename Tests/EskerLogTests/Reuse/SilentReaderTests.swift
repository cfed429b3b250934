import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Readers that must not write to the store's files, beside a writer that replaces records.
@Suite struct SilentReaderTests {
  private let machine: Machine

  init() {
    var machine = Machine()
    machine.reusesSpace = true
    self.machine = machine
  }

  /// As for another user, or on a volume that is mounted read-only.
  private func openReader(_ plan: FaultPlan = FaultPlan()) throws -> LogStore {
    plan.fail(.open, sticky: true, .refusesWriting(PlatformError.isReadOnly))
    var host = machine.host
    host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan)
    var options = machine.options()
    options.readOnly = true
    return try LogStore(at: machine.path, options: options, host: host)
  }

  private func overwrite(_ store: LogStore, _ number: Int) throws {
    let value = bytes("value \(1_000_000 + number)") + [UInt8](repeating: 7, count: 40)
    store.probe.collect()
    try store.put(value, forKey: bytes("key \(number % 4)"))
  }

  private func busyWriter() throws -> LogStore {
    let store = try machine.open()
    var number = 0
    while store.probe.recordsReplaced < 20 {
      try overwrite(store, number)
      number += 1
    }
    #expect(try LockFile(in: machine.path, machine.disk).words()?.areReaders == false)
    return store
  }

  private func expectHeard(_ store: LogStore, _ reader: LogStore) throws {
    let replaced = store.probe.recordsReplaced
    for number in 0..<400 {
      try overwrite(store, number)
      if number % 10 == 0 {
        try reader.refresh()
        #expect(try reader.contents() == store.contents())
      }
    }
    #expect(store.probe.recordsReplaced == replaced)
    #expect(try reader.verify().isClean)
  }

  /// It waits until the writer must have looked at the locks.
  @Test(.timeLimit(.minutes(60))) func aReaderIsHeardByAWriterThatGoesOn() throws {
    let store = try busyWriter()
    let opened = Guarded<Result<LogStore, any Error>?>(nil)
    let thread = try WorkerThread(name: "reader") {
      let result = Result { try openReader() }
      opened.withLock { $0 = result }
    }
    var number = 0
    while opened.withLock({ $0 == nil }) {
      try overwrite(store, number)
      machine.clock.advance(milliseconds: 1)
      number += 1
    }
    thread.join()
    let reader = try #require(opened.withLock { $0 }).get()
    try expectHeard(store, reader)
    try reader.close()
    try store.close()
  }

  /// A writer that does nothing looks before it replaces the next record.
  @Test(.timeLimit(.minutes(60))) func aReaderIsHeardByAWriterThatRested() throws {
    let store = try busyWriter()
    let start = machine.clock.monotonicNanoseconds()
    let clock = machine.clock
    let plan = FaultPlan()
    plan.onCall { call in if call.operation == .tryLock { clock.advance(milliseconds: 1) } }
    let reader = try openReader(plan)
    #expect(machine.clock.monotonicNanoseconds() - start >= LockFile.lookWait)
    try expectHeard(store, reader)
    try reader.close()
    // Once it has gone, records are replaced again.
    let replaced = store.probe.recordsReplaced
    for number in 0..<10_000 where store.probe.recordsReplaced == replaced { try overwrite(store, number) }
    #expect(store.probe.recordsReplaced > replaced)
    try store.close()
  }

  @Test func withoutAWriterAReaderDoesNotWait() throws {
    let store = try busyWriter()
    let expected = try store.contents()
    try store.close()
    let start = machine.clock.monotonicNanoseconds()
    let reader = try openReader()
    #expect(try reader.contents() == expected)
    #expect(machine.clock.monotonicNanoseconds() == start)
  }
}
