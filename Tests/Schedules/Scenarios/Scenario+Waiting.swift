import EskerLog
import EskerPlatform
import EskerTestSupport

extension Scenario {
  /// Who waits for a sync or a write, and must not wait for ever.
  static let waiting = [
    Scenario("sync-fails", "a sync fails that two writers and a task wait for, or the next one") {
      let machine = Machine.told()
      let store = try machine.open()
      let registers = ["a", "b", "c"].map { Register($0) }
      for register in registers { try register.put(store) }
      try store.sync()
      // The kernel says so once, and takes the pages for clean.
      let failed = FaultEffect.failedSync(code: PlatformError.inputOutput, marksPagesClean: true)
      machine.calls?.fail(.sync, on: .suffix(".segment"), nth: 2, failed)
      @Sendable func untilFailed(_ error: StoreError) throws {
        switch error {
        case .outcomeUnknown, .syncFailed: Schedule.note("finds that a sync has failed")
        default: throw error
        }
      }
      let parts = registers.prefix(2).map { register in
        Part("writer \(register.key)") {
          do { for _ in 0..<2 { try register.put(store, .synced) } } catch let error as StoreError {
            try untilFailed(error)
          }
        }
      }
      let task = Part(task: "task c") {
        do { for _ in 0..<2 { try await registers[2].put(byTask: store, .synced) } } catch let error as StoreError {
          try untilFailed(error)
        }
      }
      together(parts[0], parts[1], task)
      let floors = registers.map(\.floor)
      do {
        try store.put([0], forKey: "late", durability: .synced)
        Schedule.fail("a write is durable behind a sync that failed")
      } catch let error as StoreError { try untilFailed(error) }
      let durable = store.durableSequence
      let lost = try machine.afterPowerLoss()
      let killed = try machine.afterKill()
      // Ends the thread that syncs for tasks.
      do { try store.close() } catch let error as StoreError { try untilFailed(error) }
      Schedule.note("what is there after a loss of power:")
      expect(try lost.open().lastSequence >= durable, "\(durable) was said to be durable")
      try lost.afterKill().openIntact(registers, from: floors)
      Schedule.note("what is there after a kill, and then a loss of power:")
      try killed.openIntact(registers)
      try killed.afterPowerLoss().openIntact(registers)
    },
    Scenario("cancelled", "two of three tasks that wait for syncs are cancelled, and end before the sync does") {
      let machine = Machine.told()
      let store = try machine.open()
      let registers = ["a", "b", "c"].map { Register($0) }
      let losses = PowerLosses()
      // What makes the first segment syncs it.
      try store.put([0], forKey: "first")
      let (gate, tasks) = (Gate(), [CancelledTask(), CancelledTask()])
      machine.calls?.onCall { call in
        Schedule.call(call.operation.rawValue, on: call.path)
        if call.operation == .sync, call.path.hasSuffix(".segment") { gate.pass() }
      }
      let ended = Guarded(0, .unranked)
      let cancelled = zip(registers, tasks).map { register, handle in
        Part(task: "task \(register.key)", handle) {
          // The first one waits for the sync in progress, the second for the next one.
          if register.key == "b" { gate.awaitReached() }
          do {
            try await register.put(byTask: store, .synced)
            Schedule.fail("a sync has ended that must not")
          } catch StoreError.cancelled { Schedule.note("is cancelled") }
          let count = ended.withLock {
            $0 += 1
            return $0
          }
          if count == tasks.count { gate.open() }
        }
      }
      together(
        cancelled[0],
        cancelled[1],
        Part(task: "task c") {
          gate.awaitReached()
          try await registers[2].put(byTask: store, .synced)
          try losses.note(machine, [registers[2]], from: [registers[2].floor])
        },
        Part("canceller") {
          gate.awaitReached()
          // Until nothing else goes on, unless the order says otherwise.
          Platform.stopForLong()
          for task in tasks { task.cancel() }
        }
      )
      try store.close()
      try losses.check()
      let kept = try machine.open()
      for key in ["a", "b"] { expect(try kept.get(key) != nil, "a wait was given up, and the write \(key) is gone") }
    },
    Scenario("feed", "a task reads changes as they come, beside puts that could take the room of dead records") {
      var told = Machine.told()
      told.reusesSpace = true
      let machine = told
      let store = try machine.open()
      let registers = ["a", "b"].map { Register($0) }
      for _ in 0..<2 { for register in registers { try register.put(store) } }
      let (first, rounds) = (store.lastSequence.rawValue + 1, 3)
      let feed = store.changes(includingUnsynced: true)
      together(
        Part(task: "feed") {
          var iterator = feed.makeAsyncIterator()
          for number in 0..<2 * rounds {
            guard let change = try await iterator.next(), case .put(let value, _) = change.kind else {
              Schedule.fail("the feed ends, or shows what nobody wrote")
            }
            Schedule.note("is told of \(change.sequence.rawValue)")
            expect(change.sequence.rawValue == first + UInt64(number), "\(change.sequence) follows in a feed")
            expect(change.key == bytes(registers[number % 2].key), "the feed has another key")
            expect(Int(value.first ?? 0) == 3 + number / 2, "the feed has another value")
          }
        },
        Part("writer") { for _ in 0..<rounds { for register in registers { try register.put(store) } } }
      )
    },
  ]
}
