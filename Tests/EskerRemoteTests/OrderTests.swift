import EskerLog
import EskerTestSupport
import Synchronization
import Testing

@testable import EskerRemote

/// Single rules of the core, each with replies in an order of the test's.
@Suite struct OrderTests {
  let store = ManualStore()
  let clock = FakeClock()
  let key = RemoteKey([65], domain: 0)

  func makeCore(_ faults: PlantedFaults = []) -> Coherence {
    let core = Coherence(
      store,
      verified: VerifiedSet(capacity: 64),
      seeds: (1, 2),
      faults: faults,
      now: { [clock] in RemoteInstant(nanoseconds: clock.monotonicNanoseconds()) }
    )
    core.raised(0..<1, to: 1)
    core.trusted(0..<1, in: 1, until: core.now().advanced(by: .seconds(1)))
    return core
  }

  func value(_ number: UInt64) -> RemoteValue {
    [UInt8]().withBytes {
      RemoteValue(RemoteEnvelope(version: RemoteVersion(time: number, count: 0, writer: 1)), payload: $0)
    }
  }

  func reply(_ number: UInt64, _ index: UInt64, generation: UInt32 = 1) -> Result<Stamped<RemoteValue?>, RemoteError> {
    .success(Stamped(value(number), at: RemoteStamp(generation: generation, index: index)))
  }

  /// Two flights of one key, of which the older is decoded last; whether it was kept.
  private func landsLate(_ faults: PlantedFaults) throws -> Bool {
    let core = makeCore(faults)
    let first = try #require(core.board(key, view: 1) { SharedRead() }.new)
    core.ask(first, nil, by: .distantFuture) { _ in }
    key.bytes.withBytes { core.changed($0, domain: 0, at: RemoteStamp(generation: 1, index: 1)) }
    let second = try #require(core.board(key, view: 1) { SharedRead() }.new)
    core.ask(second, nil, by: .distantFuture) { _ in }
    store.gets[0](reply(1, 2))
    store.gets[1](reply(2, 3))
    #expect(core.land(second, value(2).version) { _ in })
    return core.land(first, value(1).version) { _ in }
  }

  @Test func anOlderReplyIsNotKeptAfterANewerOne() throws { #expect(try !landsLate([])) }

  @Test func theErrorOfKeepingAnOlderReplyIsFound() throws { #expect(try landsLate(.noOrder)) }

  @Test func whatIsToldWhileAValueIsDecodedForbidsToKeepIt() throws {
    let core = makeCore()
    let flight = try #require(core.board(key, view: 1) { SharedRead() }.new)
    core.ask(flight, nil, by: .distantFuture) { _ in }
    store.gets[0](reply(1, 1))
    // Another key of the same domain hinders nobody.
    "other".withBytes { core.changed($0, domain: 0, at: RemoteStamp(generation: 1, index: 2)) }
    #expect(core.land(flight, value(1).version) { _ in })
    key.bytes.withBytes { core.changed($0, domain: 0, at: RemoteStamp(generation: 1, index: 3)) }
    #expect(!core.land(flight, value(1).version) { _ in })
    #expect(!core.isVerified(key, try #require(value(1).version)))
  }

  /// What was read and may not be current any more is handed over as such, unless the reader has written meanwhile.
  @Test func whatWasOvertakenByAnOwnWriteIsNotEvenKeptAsDoubtful() throws {
    for hasWritten in [false, true] {
      let core = makeCore()
      let flight = try #require(core.board(key, view: 1) { SharedRead() }.new)
      core.ask(flight, nil, by: .distantFuture) { _ in }
      store.gets.removeLast()(reply(1, 1))
      key.bytes.withBytes { core.changed($0, domain: 0, at: RemoteStamp(generation: 1, index: 2)) }
      if hasWritten { core.write(key, .remove(.always), by: .distantFuture) { _ in } }
      var generations: [UInt32] = []
      #expect(!core.land(flight, value(1).version) { generations.append($0) })
      #expect(generations == (hasWritten ? [] : [0]))
    }
  }

  @Test func aWriteThatMayBeReplacedAlreadyIsKeptAsDoubtful() {
    let core = makeCore()
    let generations = Mutex<[UInt32]>([])
    for index: UInt64 in [1, 2] {
      core.write(
        key,
        .set(value(index), .always),
        by: .distantFuture,
        keep: { generation in
          generations.withLock { $0.append(generation) }
        }
      ) { _ in }
      if index == 2 { key.bytes.withBytes { core.changed($0, domain: 0, at: RemoteStamp(generation: 1, index: 9)) } }
      let done = Stamped(
        RemoteWritten.done(isEchoed: false, wasThere: nil),
        at: RemoteStamp(generation: 1, index: index)
      )
      store.writes[Int(index) - 1].completion(.success(done))
    }
    #expect(generations.withLock { $0 } == [1, 0])
  }

  /// Copies that are checked together obey the same order, and nobody reads in their place.
  @Test(arguments: [[], .noFence] as [PlantedFaults])
  func whatIsToldDuringACheckOfManyForbidsToTrust(_ faults: PlantedFaults) async throws {
    let core = makeCore(faults)
    let other = RemoteKey([66], domain: 0)
    let version = try #require(value(1).version)
    async let current = core.check([(key, version), (other, version)], view: 1, by: .distantFuture)
    while store.checkCount.load(ordering: .acquiring) < 2 { await Task.yield() }
    #expect(core.board(key, view: 1) { SharedRead() }.new != nil)
    key.bytes.withBytes { core.changed($0, domain: 0, at: RemoteStamp(generation: 1, index: 5)) }
    for (index, completion) in store.checks.enumerated() {
      completion(.success(Stamped(.same, at: RemoteStamp(generation: 1, index: UInt64(3 + index)))))
    }
    #expect(try await current.get() == 2)
    // The error is found where it is planted.
    #expect(core.isVerified(key, version) == (faults == .noFence))
    #expect(core.isVerified(other, version))
  }

  @Test func whoComesAfterAChangeDoesNotJoin() throws {
    let core = makeCore()
    #expect(core.board(key, view: 1) { SharedRead() }.new != nil)
    #expect(core.board(key, view: 1) { SharedRead() }.new == nil)
    #expect(core.board(key, view: 2) { SharedRead() }.new != nil)
    key.bytes.withBytes { core.changed($0, domain: 0, at: RemoteStamp(generation: 1, index: 1)) }
    #expect(core.board(key, view: 1) { SharedRead() }.new != nil)
    core.raised(0..<1, to: 2)
    #expect(core.board(key, view: 1) { SharedRead() }.new != nil)
  }

  @Test func writesOfAKeyWaitForEachOther() {
    let core = makeCore()
    let results = Mutex<[String]>([])
    for name in ["one", "two"] {
      core.write(key, .set(value(1), .always), by: .distantFuture) { result in
        results.withLock { $0.append("\(name) \((try? result.get().isDone) ?? false)") }
      }
    }
    #expect(store.writes.count == 1)
    store.writes[0].completion(.failure(.unknownOutcome))
    // Busy until it is settled.
    #expect(store.writes.count == 1)
    core.settled(store.writes[0].id, .lost)
    #expect(store.writes.count == 2)
    store.writes[1].completion(
      .success(Stamped(.done(isEchoed: false, wasThere: nil), at: RemoteStamp(generation: 1, index: 1)))
    )
    #expect(results.withLock { $0 } == ["one false", "two true"])
  }

  /// As a client that is stopped does it: the answer is there before the request returns.
  @Test func howeverManyWritesAreRefusedAtOnceTheStackDoesNotGrow() {
    let core = makeCore()
    let refused = Atomic<Int>(0)
    let count = 60_000
    for number in 0..<count {
      core.write(key, .set(value(UInt64(number)), .always), by: .distantFuture) { result in
        if case .failure(.stopped) = result { refused.add(1, ordering: .relaxed) }
      }
    }
    #expect(store.writes.count == 1)
    store.refusal = .stopped
    store.writes[0].completion(.failure(.stopped))
    #expect(refused.load(ordering: .relaxed) == count)
    #expect(core.state.withLock { $0.active.count + $0.waitingCount } == 0)
  }

  /// Whoever sends the next write finds that it has been answered, while somebody else writes and answers at once, too.
  @Test func writesAreSentOnceEachInTheirOrder() {
    let core = makeCore()
    let order = Mutex<[Int]>([])
    @Sendable func write(_ number: Int) {
      core.write(key, .set(value(UInt64(number)), .always), by: .distantFuture) { [store] _ in
        order.withLock { $0.append(number) }
        if number == 2 {
          write(4)
          store.refusal = nil
        }
      }
    }
    for number in 0..<4 { write(number) }
    store.refusal = .unavailable(until: nil)
    store.writes[0].completion(.failure(.unavailable(until: nil)))
    #expect(order.withLock { $0 } == [0, 1, 2] && store.writes.count == 2)
    store.writes[1].completion(.failure(.unavailable(until: nil)))
    #expect(order.withLock { $0 } == [0, 1, 2, 3] && store.writes.count == 3)
    store.writes[2].completion(.failure(.unavailable(until: nil)))
    #expect(order.withLock { $0 } == [0, 1, 2, 3, 4])
    #expect(core.state.withLock { $0.active.count + $0.waitingCount } == 0)
  }

  @Test func aWriteThatWaitsTooLongIsNeverMade() {
    let core = makeCore()
    let results = Mutex<[Result<WriteOutcome, RemoteError>]>([])
    core.write(key, .set(value(1), .always), by: .distantFuture) { _ in }
    core.write(key, .set(value(2), .always), by: core.now().advanced(by: .seconds(1))) { result in
      results.withLock { $0.append(result) }
    }
    core.expire(key)
    #expect(results.withLock { $0.isEmpty })
    clock.advance(milliseconds: 1_000)
    core.expire(key)
    let isTimedOut = results.withLock { results in
      if case .failure(.timedOut) = results.first { return true }
      return false
    }
    #expect(isTimedOut)
    let done = Stamped(RemoteWritten.done(isEchoed: false, wasThere: nil), at: RemoteStamp(generation: 1, index: 1))
    store.writes[0].completion(.success(done))
    #expect(store.writes.count == 1 && core.state.withLock { $0.active.count + $0.waitingCount } == 0)
  }

  @Test func aWriteThatIsAnsweredAfterTheLeaseWaitsForConfirmation() {
    let core = makeCore()
    let result = Mutex<Result<WriteOutcome, RemoteError>?>(nil)
    func write() {
      core.write(key, .remove(.always), by: .distantFuture) { outcome in result.withLock { $0 = outcome } }
    }
    write()
    clock.advance(milliseconds: 2_000)
    let done = Stamped(
      RemoteWritten.done(isEchoed: false, wasThere: true),
      at: RemoteStamp(generation: 1, index: 1),
      isKeepable: false
    )
    store.writes[0].completion(.success(done))
    #expect(result.withLock { $0 == nil })
    core.trusted(0..<1, in: 1, until: core.now().advanced(by: .seconds(1)))
    #expect(result.withLock { (try? $0?.get().isDone) == true })
    result.withLock { $0 = nil }
    write()
    clock.advance(milliseconds: 2_000)
    store.writes[1].completion(.success(done))
    core.raised(0..<1, to: 2)
    let isUnknown = result.withLock { result in
      if case .failure(.unknownOutcome) = result { return true }
      return false
    }
    #expect(isUnknown)
  }

  /// What was confirmed is known to have been there, unless the process has written again.
  @Test func aConfirmedWriteIsKeptAsDoubtful() {
    for hasWrittenAgain in [false, true] {
      let core = makeCore()
      let generations = Mutex<[UInt32]>([])
      core.write(
        key,
        .set(value(1), .always),
        by: .distantFuture,
        keep: { generation in
          generations.withLock { $0.append(generation) }
        }
      ) { _ in }
      clock.advance(milliseconds: 2_000)
      let stamp = RemoteStamp(generation: 1, index: 1)
      store.writes.removeLast().completion(
        .success(Stamped(RemoteWritten.done(isEchoed: false, wasThere: nil), at: stamp, isKeepable: false))
      )
      if hasWrittenAgain { core.write(key, .remove(.always), by: .distantFuture) { _ in } }
      core.trusted(0..<1, in: 1, until: core.now().advanced(by: .seconds(1)))
      #expect(generations.withLock { $0 } == (hasWrittenAgain ? [] : [0]))
    }
  }

  @Test func whatTheRemoteStoreLostIsReported() throws {
    let lost = Mutex(0)
    let core = Coherence(
      store,
      verified: VerifiedSet(capacity: 64),
      seeds: (1, 2),
      report: { report in
        if case .rolledBack = report { lost.withLock { $0 += 1 } }
      }
    )
    let flight = try #require(core.board(key, view: 1) { SharedRead() }.new)
    core.ask(flight, nil, seen: value(2).version, by: .distantFuture) { _ in }
    store.gets[0](reply(1, 1))
    #expect(lost.withLock { $0 } == 1 && core.counters.rolledBack.value == 1)
  }
}

@Suite struct SizeTests {
  /// What the article on sizing says.
  @Test func copiesTakeWhatIsSaid() {
    #expect(MemoryLayout<HeldCopy<Int>>.stride - MemoryLayout<Int>.stride <= 80)
    #expect(MemoryLayout<DomainTable.Domain>.stride == 16)
    #expect(MemoryLayout<Coherence.TrustEnd>.stride == 24)
    #expect(VerifiedSet(capacity: 100).capacity == 128)
  }
}

@Suite struct VerifiedSetTests {
  @Test func aSetForgetsButNeverInvents() {
    var random = SeededGenerator(announcedFor: "aSetForgetsButNeverInvents")
    var set = VerifiedSet(capacity: 64)
    var known: [UInt64: (RemoteVersion, UInt32)] = [:]
    var found = 0
    let hashes = (0..<200).map { _ in random.next() }
    for step in 0..<20_000 {
      let hash = hashes[Int.random(in: 0..<hashes.count, using: &random)]
      if random.oneIn(4) {
        set.remove(hash)
        known[hash] = nil
      } else if random.oneIn(2) {
        let version = RemoteVersion(time: UInt64(step), count: 0, writer: 1)
        let generation = UInt32.random(in: 1...3, using: &random)
        set.insert(hash, version, in: generation)
        known[hash] = (version, generation)
        #expect(set.contains(hash, version, in: generation))
      } else if let (version, generation) = known[hash], set.contains(hash, version, in: generation) {
        found += 1
        #expect(!set.contains(hash, version, in: generation + 1))
        #expect(!set.contains(hash, RemoteVersion(time: version.time, count: 1, writer: 1), in: generation))
      } else {
        #expect(!set.contains(hash, RemoteVersion(time: 0, count: 9, writer: 9), in: 1))
      }
    }
    #expect(found > 100)
  }
}
