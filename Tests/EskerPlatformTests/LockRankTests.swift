import EskerPlatform
import Testing

#if DEBUG
  /// What debug builds check of the order of locks.
  @Suite struct LockRankTests {
    private static let outer = LockRank(20, "outer", allowsIO: true)
    private static let inner = LockRank(21, "inner")

    @Test func locksMayBeTakenByAscendingRanks() {
      let outer = Lock(Self.outer)
      let inner = Lock(Self.inner)
      outer.withLock { inner.withLock {} }
      inner.withLock {}
      outer.withLock {}
    }

    @Test func lockOfALowerRankEndsTheProcess() async {
      await #expect(processExitsWith: .failure) {
        let outer = Lock(LockRankTests.outer)
        let inner = Lock(LockRankTests.inner)
        inner.withLock { outer.withLock {} }
      }
    }

    @Test func secondLockOfARankEndsTheProcess() async {
      await #expect(processExitsWith: .failure) {
        let one = Lock(LockRankTests.inner)
        let other = Lock(LockRankTests.inner)
        one.withLock { other.withLock {} }
      }
    }

    @Test func lockThatIsOnlyTriedMayComeOutOfOrder() {
      let outer = Lock(Self.outer)
      let one = Lock(Self.inner)
      let other = Lock(Self.inner)
      one.lock()
      let isTaken = other.tryLock()
      let isOuterTaken = outer.tryLock()
      #expect(isTaken && isOuterTaken)
      other.unlock()
      outer.unlock()
      one.unlock()
      outer.withLock {}
    }

    @Test func lockIsHeldThoughAnotherOfItsRankWasGivenBack() async {
      await #expect(processExitsWith: .failure) {
        let outer = Lock(LockRankTests.outer)
        let one = Lock(LockRankTests.inner)
        let other = Lock(LockRankTests.inner)
        one.lock()
        if other.tryLock() { other.unlock() }
        outer.lock()
      }
    }

    @Test func fileThatIsTouchedUnderALockWithoutIOEndsTheProcess() async {
      Lock(Self.outer).withLock { _ = try? OSFileSystem().status("/") }
      await #expect(processExitsWith: .failure) {
        Lock(LockRankTests.inner).withLock { _ = try? OSFileSystem().status("/") }
      }
    }

    @Test func waitForPinsUnderALockEndsTheProcess() async {
      Lock(Self.outer).withLock { EpochDomain().synchronize(holding: Self.outer) }
      await #expect(processExitsWith: .failure) {
        Lock(LockRankTests.inner).withLock { EpochDomain().synchronize(holding: LockRankTests.outer) }
      }
    }

    @Test func codeApartKnowsNothingOfWhatIsHeld() {
      let outer = Lock(Self.outer)
      let inner = Lock(Self.inner)
      inner.withLock {
        LockRank.apart {
          outer.withLock {}
          _ = try? OSFileSystem().status("/")
        }
      }
    }
  }
#endif
