import EskerMemory
import Testing

/// The bracket that keeps a cache ahead of a store from keeping what the store no longer has.
@Suite struct FillTests {
  @Test func aFillBesideNoWriterIsAdmitted() {
    let cache = MemoryCache<Int, Int>()
    let ticket = cache.beginFill(1)
    #expect(cache.fill(7, forKey: 1, now: 0, ticket: ticket))
    #expect(cache.get(1, now: 0) == 7)
  }

  @Test func aFillThatBeganBesideAWriterIsNotAdmittedEvenOnceTheWriterHasLeft() {
    let cache = MemoryCache<Int, Int>()
    let write = cache.enterWrite(1)
    let ticket = cache.beginFill(1)
    #expect(!cache.fill(7, forKey: 1, now: 0, ticket: ticket))
    cache.leaveWrite(write)
    #expect(!cache.fill(7, forKey: 1, now: 0, ticket: ticket))
    #expect(cache.fill(7, forKey: 1, now: 0, ticket: cache.beginFill(1)))
  }

  @Test func whateverIsWrittenMakesTheFillsFailThatHaveBegun() {
    let cache = MemoryCache<Int, Int>()
    let writes: [() -> Void] = [
      { cache.put(1, forKey: 1, now: 0) },
      { cache.remove(1) },
      { cache.update(1, now: 0) { $0 = MemoryEntry(2) } },
      { cache.removeAll() },
      {
        cache.leaveWrite(cache.enterWrite(1))
      },
    ]
    for write in writes {
      let ticket = cache.beginFill(1)
      write()
      #expect(!cache.fill(7, forKey: 1, now: 0, ticket: ticket))
    }
  }

  @Test func twoFillsOfOneShardDoNotHinderEachOther() {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(count: 100))
    let first = cache.beginFill(1)
    let second = cache.beginFill(2)
    #expect(cache.fill(1, forKey: 1, now: 0, ticket: first))
    #expect(cache.fill(2, forKey: 2, now: 0, ticket: second))
  }

  @Test func whatAWriteStoredIsKeptUnlessAnotherFollowed() {
    let cache = MemoryCache<Int, Int>()
    #expect(!cache.fill(7, forKey: 1, ofWrite: 5, now: 0))
    cache.leaveWrite(cache.enterWrite(1), number: 5)
    #expect(cache.fill(7, forKey: 1, ofWrite: 5, now: 0))
    #expect(cache.entry(1, now: 0)?.version == 5)
    let next = cache.enterWrite(1)
    #expect(!cache.fill(7, forKey: 1, ofWrite: 5, now: 0))
    cache.leaveWrite(next, number: 6)
    #expect(!cache.fill(7, forKey: 1, ofWrite: 5, now: 0) && cache.fill(8, forKey: 1, ofWrite: 6, now: 0))
    cache.removeAll()
    #expect(!cache.fill(8, forKey: 1, ofWrite: 6, now: 0))
    #expect(cache.get(1, now: 0) == nil)
  }

  /// Two writers of three steps and two fillers of three, in every order in which the four can take turns.
  @Test func inNoOrderOfTwoWritersAndTwoFillersIsAnOldValueKept() {
    var orders = 0
    var admitted = 0
    forEachOrder { order in
      orders += 1
      admitted += replay(order)
    }
    // 12! / 3!^4, halved for the two writers and again for the two fillers, who are alike until they first step.
    #expect(orders == 92_400)
    // The bracket must not reject everything either.
    #expect(admitted > 1000)
  }

  /// Returns how many fills were admitted.
  private func replay(_ order: [Int]) -> Int {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(count: 4))
    var stored = 0
    var steps = [0, 0, 0, 0]
    var tickets: [FillTicket?] = [nil, nil]
    var writes: [WriteTicket?] = [nil, nil]
    var read = [0, 0]
    var admitted = 0
    for actor in order {
      switch (actor < 2, steps[actor]) {
      case (true, 0): writes[actor] = cache.enterWrite(1)
      case (true, 1): stored = actor + 1
      case (true, _): if let write = writes[actor] { cache.leaveWrite(write) }
      case (false, 0): tickets[actor - 2] = cache.beginFill(1)
      case (false, 1): read[actor - 2] = stored
      default:
        if let ticket = tickets[actor - 2], cache.fill(read[actor - 2], forKey: 1, now: 0, ticket: ticket) {
          admitted += 1
        }
      }
      steps[actor] += 1
      if let value = cache.get(1, now: 0), value != stored {
        Issue.record("the cache has \(value), the store \(stored), after \(steps) of \(order)")
      }
    }
    return admitted
  }

  /// Calls `body` with every order of three steps each of four actors: 0 and 1 alike, 2 and 3 alike.
  private func forEachOrder(_ body: ([Int]) -> Void) {
    var order: [Int] = []
    var left = [3, 3, 3, 3]
    func extend() {
      if order.count == 12 { return body(order) }
      for actor in 0..<4 where left[actor] > 0 {
        if actor % 2 == 1 && left[actor] == 3 && left[actor - 1] == 3 { continue }
        left[actor] -= 1
        order.append(actor)
        extend()
        order.removeLast()
        left[actor] += 1
      }
    }
    extend()
  }
}
