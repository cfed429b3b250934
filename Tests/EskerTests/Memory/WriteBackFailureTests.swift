import Esker
import EskerTestSupport
import Foundation
import Testing

/// Of what fails behind a write-back front, whoever set it is told, and nobody else.
@Suite struct WriteBackFailureTests {
  /// Over a log whose values can be encoded when they are set, and not any more when they are written.
  private func withFickleFront(
    _ body: (HybridStorage<LogStorage<String, Int>>, LogStorage<String, Int>) throws -> Void
  ) throws {
    try withTemporaryStore { store in
      let calls = Collected<Int>()
      let fickle = Transformer<Int>(id: "fickle") { (value: Int) throws -> [UInt8] in
        calls.add(value)
        if calls.count > 1 { throw CocoaError(.coderInvalidValue) }
        return [1]
      } decode: { _ in
        1
      }
      let log = try LogStorage(store, "n", key: String.self, transformer: fickle)
      try body(HybridStorage(log, writing: .back(window: 1000)), log)
    }
  }

  @Test func failureInTheBackgroundIsToldOnceAndTheValueKept() throws {
    let back = DictionaryStorage<String, Int>()
    back.refuse(writes: true)
    let hybrid = HybridStorage(back, writing: .back(window: 8))
    try hybrid.set(1, forKey: "a")
    #expect(eventually { back.writes > 0 })
    #expect(try hybrid.value(forKey: "a") == 1)
    back.refuse()
    // By now writing succeeds, so what is thrown is what failed in the background.
    var told = 0
    let wasTold = eventually {
      do { try hybrid.flush() } catch { told += 1 }
      return told > 0
    }
    #expect(wasTold && told == 1)
    for _ in 0..<10 { try hybrid.flush() }
    #expect(back.all == ["a": 1])
  }

  @Test func writeToTheKeyspaceSaysWhyWhatWaitsCannotBeWritten() throws {
    try withFickleFront { hybrid, log in
      try hybrid.set(1, forKey: "a")
      // The fault is the value's own: others write on, and who comes to the window next is told.
      try log.keyspace.put([1], forKey: "b")
      guard case .encoding = failure(of: { try hybrid.flush() }) else {
        Issue.record("nobody was told")
        return
      }
      try hybrid.flush()
      #expect(try log.keys() == ["b"])
    }
  }

  @Test func strangerWhoReadsIsNotToldOfIt() throws {
    try withFickleFront { hybrid, log in
      try log.keyspace.put([1], forKey: "b")
      try hybrid.set(1, forKey: "a")
      #expect(try log.value(forKey: "b") == 1)
      guard case .encoding = failure(of: { try hybrid.flush() }) else {
        Issue.record("nobody was told")
        return
      }
      try hybrid.flush()
    }
  }

  @Test func frontThatGoesTriesOnceMore() throws {
    let back = DictionaryStorage<String, Int>()
    back.refuse(writes: true)
    do {
      let hybrid = HybridStorage(back, writing: .back(window: 8))
      try hybrid.set(1, forKey: "a")
      #expect(eventually { back.writes > 0 })
      withExtendedLifetime(hybrid) { back.refuse() }
    }
    #expect(back.all == ["a": 1])
  }

  @Test func flushTellsOfWhatWasDroppedWhileItWaited() throws {
    let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let back = Storage(DictionaryStorage<String, Int>()).validate { _ in
      entered.signal()
      gate.wait()
      return false
    }
    let hybrid = HybridStorage(back, writing: .back(window: 8))
    try hybrid.set(1, forKey: "a")
    // The background is writing it.
    entered.wait()
    // When the flush waits, most likely; one that comes later is told as well.
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { gate.signal() }
    guard case .rejected = failure(of: { try hybrid.flush() }) else {
      Issue.record("nobody was told")
      return
    }
    try hybrid.flush()
  }

  @Test func whatIsTooLongForTheLogIsRefusedWhenItIsSet() throws {
    try withTemporaryStore { store in
      let long = Transformer<Int>(id: "long") { length in
        // Nobody touches the bytes, so they take no memory.
        [UInt8](unsafeUninitializedCapacity: length) { $1 = length }
      } decode: { bytes in
        bytes.byteCount
      }
      let log = try LogStorage(store, "n", key: [UInt8].self, transformer: long)
      let hybrid = HybridStorage(log, writing: .back(window: 8))
      let (key, length) = ([UInt8](repeating: 7, count: 65_536), LogStore.maximumValueLength + 1)
      guard case .store(.keyTooLong(65_536)) = failure(of: { try hybrid.set(1, forKey: key) }),
        case .store(.valueTooLong(length)) = failure(of: { try hybrid.set(length, forKey: [7]) })
      else {
        Issue.record("it was taken")
        return
      }
      try hybrid.set(1, forKey: [UInt8](repeating: 7, count: 65_535))
      try hybrid.flush()
      #expect(try log.count() == 1)
    }
  }
}
