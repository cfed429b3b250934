internal import EskerPlatform
internal import Synchronization

/// The lock file of the process that has the store open for writing: it says who that is, whether a sync was in progress or had failed
/// when that process ended, and what readers and the writer tell each other.
///
/// Words of eight bytes: the magic `ESKRLOCK`; the process; syncs in progress; the error of a failed sync; a number that is odd while the
/// manifest is being written, and grows with each write; whether other processes read the store; whether a record is being replaced; the
/// last write that was published while there were readers. Then what processes tell each other that write in turn: see ``Word``. The
/// lock is let go of and taken again with the file mapped all the time.
///
/// The file means nothing after a restart of the machine and needs no sync: the page cache then holds what the disk
/// holds. Within one boot it tells the next opener that the kernel may have marked pages clean that it could not write,
/// so they must not be trusted.
///
/// Safety: threads may share it: `isEnded` and `isReleased` are guarded by `lock`, and so are the stores through the mapping, which has all
/// words and is aligned to a page; those of three words are atomic, and made under the writer's lock. It is unmapped
/// after `isEnded` was set and the writer's lock was held once, so no store can follow. What is known of the last writer changes only
/// while no other thread writes.
@safe
final class Session: @unchecked Sendable {
  /// Constant but for turns, which begin and end under the lock of whoever suspends and resumes the store.
  private var file: any File
  private let mapping: any Mapping
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let lock = Lock(.session)
  /// Guarded by `lock`. Once true, the file may belong to another process.
  private var isEnded = false
  /// Guarded by `lock`. While true, the file may belong to another process.
  private var isReleased = false
  /// Guarded by `lock`: the syncs of this process that the file counts.
  private var syncs = 0
  /// Whether readers are told what is visible. Changed and read under the writer's lock.
  private var tellsReaders = true
  /// The file's count of turns when this process last got the lock; 0 if it never did, or failed then.
  private var turn: UInt64 = 0
  /// Turns up to this one may have ended before this process began to follow: even before the machine was started.
  private var oldTurn: UInt64 = 0

  /// What the last writer has left, if it handed the files over or closed the store.
  private(set) var last: Baton?
  /// Whether the last writer ended during a sync or after a failed one.
  private(set) var distrustsCache = false
  /// Whether a sync of the last writer failed.
  private(set) var knowsOfFailure = false
  private let directory: String
  private let isShared: Bool
  private let platform: Platform

  /// Takes the lock, creating the file if needed.
  ///
  /// - Parameter isShared: Whether it is handed over to processes that ask for it.
  /// - Throws: ``StoreError/locked(path:holder:)``; ``StoreError/failed(operation:path:errno:)``.
  init(directory: String, host: StoreHost, isShared: Bool) throws(StoreError) {
    self.directory = directory
    self.isShared = isShared
    platform = host.platform
    let file = try Self.locked(in: directory, host.platform)
    self.file = file
    mapping = try Self.mapped(file)
    unsafe self.words = mapping.base.assumingMemoryBound(to: Atomic<UInt64>.self)
    begin()
  }

  /// For a store that is to write in turn, while another process has the lock: that one has taken it since the machine was started, so
  /// what it says from now on counts.
  init(besideWriterIn directory: String, host: StoreHost) throws(StoreError) {
    self.directory = directory
    isShared = true
    platform = host.platform
    let path = "\(directory)/\(LockFile.name)"
    let file = try translating { () throws(PlatformError) in try host.platform.fileSystem.open(path, .readWrite) }
    self.file = file
    do throws(StoreError) {
      mapping = try Self.mapped(file)
    } catch {
      file.close()
      throw error
    }
    unsafe words = mapping.base.assumingMemoryBound(to: Atomic<UInt64>.self)
    isReleased = true
    // The present one has not ended, unless its end is what the file is about.
    oldTurn = self[.turn]
    if self[.batonTurn] != oldTurn { oldTurn &-= 1 }
    file.close()
  }

  private static func mapped(_ file: any File) throws(StoreError) -> any Mapping {
    try translating { () throws(PlatformError) -> any Mapping in
      try file.reserve(LockFile.length)
      let mapping = try file.map(capacity: 4096, writable: true)
      try mapping.extend(to: LockFile.length)
      return mapping
    }
  }

  /// Notes what the last writer has left, and that this process has the lock.
  private func begin() {
    let words = unsafe mapping.base.assumingMemoryBound(to: UInt64.self)
    let isOurs = unsafe words[0] == LockFile.magic.littleEndian
    distrustsCache = unsafe isOurs && (words[2] != 0 || words[3] != 0)
    knowsOfFailure = unsafe isOurs && words[3] != 0
    let last = unsafe UInt64(littleEndian: words[Word.turn.rawValue])
    self.last = isOurs && self[.batonTurn] == last ? baton : nil
    turn = last &+ 1
    unsafe words[0] = LockFile.magic.littleEndian
    // Until it is known that nobody reads the store.
    unsafe words[5] = 1
    unsafe words[6] = 0
    unsafe words[7] = 0
    unsafe words[Word.turn.rawValue] = turn.littleEndian
    unsafe words[Word.isShared.rawValue] = (isShared ? 1 : 0 as UInt64).littleEndian
    unsafe words[1] = UInt64(UInt32(bitPattern: platform.processID)).littleEndian
  }

  // MARK: Taking the lock

  /// How often another opener may replace the file meanwhile.
  private static let mostTries = 8

  /// The lock file, locked. One that another program has put there is replaced by a new one, and not written to.
  private static func locked(in directory: String, _ platform: Platform) throws(StoreError) -> any File {
    let path = "\(directory)/\(LockFile.name)"
    for _ in 0..<mostTries {
      let file = try translating { () throws(PlatformError) in try opened(path, platform.fileSystem) }
      do throws(StoreError) {
        guard try translating({ () throws(PlatformError) in try lock(file, platform) }) else {
          throw .locked(path: directory, holder: LockFile(file).holder)
        }
        if try translating({ () throws(PlatformError) in try isOurs(file) }) { return file }
        try translating { () throws(PlatformError) in
          // Only whoever has it locked removes the name, and only once: the next one finds that the file has none.
          let names = try file.status().linkCount
          guard names <= 1 else { throw PlatformError("take for a lock", path: path, code: PlatformError.tooManyLinks) }
          if names == 1 { try platform.fileSystem.remove(path) }
        }
      } catch {
        file.close()
        throw error
      }
      file.close()
    }
    throw .failed(operation: "lock", path: path, errno: PlatformError.tryAgain)
  }

  private static func opened(_ path: String, _ fileSystem: any FileSystem) throws(PlatformError) -> any File {
    if try fileSystem.status(path) == nil {
      do throws(PlatformError) { return try fileSystem.open(path, .create) } catch {
        guard error.code == PlatformError.exists else { throw error }
      }
    }
    return try fileSystem.open(path, .readWrite)
  }

  /// Whether the file is a lock file, or one that was just made.
  private static func isOurs(_ file: any File) throws(PlatformError) -> Bool {
    let bytes = try file.bytes(in: 0..<LockFile.length + 1)
    if bytes.count <= LockFile.length, bytes.allSatisfy({ $0 == 0 }) { return true }
    return try LockFile(file).words() != nil
  }

  /// Takes a writer's lock; false if there is a writer. A reader that looks whether there is one holds the lock for a moment.
  private static func lock(_ file: any File, _ platform: Platform) throws(PlatformError) -> Bool {
    for _ in 0..<4 {
      if try file.tryLock(exclusive: true) { return true }
      platform.pause()
    }
    return try file.tryLock(exclusive: true)
  }

  // Syncs continue while a thread waits for one, so these may be called after `end`, and then do nothing.

  /// A sync that this process has begun.
  struct Sync {
    /// Whether the file says so: not that of a process whose turn it is not.
    fileprivate let isNoted: Bool
  }

  func beginSync() -> Sync {
    lock.withLock {
      guard !isEnded, !isReleased else { return Sync(isNoted: false) }
      syncs += 1
      unsafe mapping.base.assumingMemoryBound(to: UInt64.self)[2] &+= 1
      return Sync(isNoted: true)
    }
  }

  /// Notes the end of a sync. If it has failed, the file goes on saying that it is under way.
  func end(_ sync: Sync, failed: Bool = false) {
    lock.withLock {
      guard sync.isNoted else { return }
      syncs -= 1
      if !failed, !isEnded { unsafe mapping.base.assumingMemoryBound(to: UInt64.self)[2] &-= 1 }
    }
  }

  /// Also in a suspended store: what another process takes over may not be on disk.
  func syncFailed(_ code: Int32) {
    unsafe change(evenIfReleased: true) { unsafe $0[3] = UInt64(UInt32(bitPattern: code)) }
  }

  /// Notes that the copies of the manifest are about to be written; see `edits`. The number may already be odd: an
  /// earlier writer was killed during a write, which this one replaces.
  func editBegan() {
    unsafe change { unsafe $0[4] = ($0[4] &+ 1) | 1 }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  /// Notes that both copies have been written, as far as possible.
  func editEnded() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    unsafe change { unsafe $0[4] &+= 1 }
  }

  /// Notes that the contents of the page cache have been rewritten and can be trusted.
  func trustsCacheAgain() {
    unsafe change {
      unsafe $0[2] = 0
      unsafe $0[3] = 0
    }
  }

  // MARK: Turns

  /// What processes tell each other that write in turn, by the number of the word.
  private enum Word: Int {
    /// How often a process has got the lock.
    case turn = 8
    /// Changes with each request for the lock.
    case requests = 9
    /// Changes when the lock is let go of.
    case releases = 10
    /// The number that the next process gets that asks for the lock, and the lowest that has not been served.
    case nextTicket = 11
    case served = 12
    /// The turn at whose end the words of the ``Baton`` were written, which begin behind it.
    case batonTurn = 13
    /// Whether the process that has the lock hands it over; as in ``LockFile``.
    case isShared = 26
  }

  // Safety: the mapping has all words, until the session has ended.
  private subscript(word: Word) -> UInt64 {
    get { unsafe UInt64(littleEndian: words[word.rawValue].load(ordering: .acquiring)) }
    set { unsafe words[word.rawValue].store(newValue.littleEndian, ordering: .releasing) }
  }

  /// The lower half of a word, to sleep on.
  private func shared(_ word: Word) -> SharedWord {
    #if _endian(big)
      unsafe SharedWord(UnsafeMutableRawPointer(words + word.rawValue) + 4)
    #else
      unsafe SharedWord(UnsafeMutableRawPointer(words + word.rawValue))
    #endif
  }

  /// How a process goes on that has got the lock again.
  enum Turn {
    /// No other has had it.
    case unchanged
    /// The last one that had it says where the log ends.
    case left(Baton)
    /// That is to be found out, as in an opening after a crash.
    case unknown
  }

  /// Lets go of the lock: from now on, another process may write to the store. Waits for syncs in progress, of which the next writer would
  /// have to assume that they failed. No lock is held that a sync may wait for.
  ///
  /// - Parameter baton: Where the log ends, for those who follow; nil if they have to find it out.
  func release(leaving baton: Baton?) {
    while !lock.withLock({ endTurn() }) { platform.pause() }
    if let baton { note(baton) }
    file.close()
  }

  /// Leaves word for the next process, before the store is closed.
  func leave(_ baton: Baton) {
    lock.withLock { if !isEnded, !isReleased { note(baton) } }
  }

  private func note(_ baton: Baton) {
    self.baton = baton
    self[.batonTurn] = turn
  }

  /// Wakes those who wait for the lock, which was let go of. Best called without locks: whoever wakes may take the processor of this thread.
  func announceRelease() {
    lock.withLock { if !isEnded { shared(.releases).advance() } }
  }

  /// Lets go of the lock after a failure: whoever takes it next, this process too, finds out for itself where the log ends.
  func giveUpTurn() {
    release(leaving: nil)
    announceRelease()
    (oldTurn, turn) = (turn, 0)
  }

  /// Whether no sync is in progress; then the file may belong to another process.
  private func endTurn() -> Bool {
    guard syncs == 0 else { return false }
    isReleased = true
    // As for the next writer; see `end()`.
    unsafe words[5].store(1, ordering: .sequentiallyConsistent)
    return true
  }

  /// Takes the lock again that was let go of.
  ///
  /// - Throws: ``StoreError/locked(path:holder:)`` if another process has it; ``StoreError/otherStore(path:)`` if the file is not the one
  ///   that is there now; ``StoreError/failed(operation:path:errno:)``.
  func takeAgain() throws(StoreError) -> Turn {
    file = try Self.locked(in: directory, platform)
    return try beginTurn()
  }

  /// Waits for the lock, and takes it. Processes that ask for it are served in the order in which they ask, but those that are stopped or
  /// have ended keep the others waiting for a moment only.
  ///
  /// - Parameters:
  ///   - limit: How long it waits, in nanoseconds.
  ///   - check: Called now and then.
  /// - Throws: As ``takeAgain()``, once the time has passed, and what `check` throws.
  func awaitTurn(atMost limit: UInt64, check: () throws(StoreError) -> Void) throws(StoreError) -> Turn {
    let path = "\(directory)/\(LockFile.name)"
    let next = try translating { () throws(PlatformError) in try Self.opened(path, platform.fileSystem) }
    var ticket: UInt64?
    do throws(StoreError) {
      if limit == 0 {
        // Not before those who wait.
        guard !isAwaited, try translating({ () throws(PlatformError) in try Self.lock(next, platform) }) else {
          throw locked(next)
        }
        file = next
        return try beginTurn()
      }
      let start = platform.clock.monotonicNanoseconds()
      while true {
        // Before the look at the lock: a release behind that is not missed.
        let releases = shared(.releases).value
        // At first; and if others did not wait for this process, which was stopped: it comes behind those who wait now.
        let mine = ticket.flatMap { self[.served] > $0 ? nil : $0 } ?? takeTicket()
        ticket = mine
        let waited = platform.clock.monotonicNanoseconds() &- start
        let ahead = min(mine &- min(mine, self[.served]), Self.mostAhead)
        if waited >= ahead &* Self.patience,
          try translating({ () throws(PlatformError) in try next.tryLock(exclusive: true) })
        {
          self[.served] = max(self[.served], mine &+ 1)
          file = next
          return try beginTurn()
        }
        guard waited < limit else { throw locked(next) }
        try check()
        shared(.requests).advance()
        shared(.releases).wait(while: releases, nanoseconds: Self.interval)
      }
    } catch {
      if let ticket { giveBack(ticket) }
      next.close()
      throw error
    }
  }

  private func locked(_ file: any File) -> StoreError { .locked(path: directory, holder: LockFile(file).holder) }

  /// Gives back a ticket that was not used, if nobody has come since. Otherwise the next one waits a moment in vain.
  private func giveBack(_ ticket: UInt64) {
    // Safety: as for the subscript.
    _ = unsafe words[Word.nextTicket.rawValue].compareExchange(
      expected: (ticket &+ 1).littleEndian,
      desired: ticket.littleEndian,
      ordering: .acquiringAndReleasing
    )
  }

  private func takeTicket() -> UInt64 {
    while true {
      let ticket = self[.nextTicket]
      let next = (ticket &+ 1).littleEndian
      // Safety: as for the subscript.
      let (isTaken, _) = unsafe words[Word.nextTicket.rawValue].compareExchange(
        expected: ticket.littleEndian,
        desired: next,
        ordering: .acquiringAndReleasing
      )
      if isTaken { return ticket }
    }
  }

  /// Whether a process waits for the lock that has not been served.
  var isAwaited: Bool { self[.nextTicket] > self[.served] }

  /// How long one process keeps those waiting that came after it, in nanoseconds: it is stopped if it does not take a lock that is free.
  private static let patience: UInt64 = 2_000_000
  /// A number of processes that hardly ever wait at once.
  private static let mostAhead: UInt64 = 16
  /// How often it is looked whether the process that has the lock has ended, which wakes nobody.
  private static let interval: UInt64 = 1_000_000

  /// Notes that this process has the lock, and finds out what it has missed.
  private func beginTurn() throws(StoreError) -> Turn {
    let before = turn
    let (found, left) = lock.withLock {
      let found = (self[.turn], self[.batonTurn])
      begin()
      isReleased = false
      return found
    }
    do throws(StoreError) {
      // A file that was replaced meanwhile, alone or with its directory, does not have what was just noted.
      let noted = try translating { () throws(PlatformError) in try LockFile(file).words()?.turn }
      guard noted == turn else { throw .otherStore(path: directory) }
    } catch {
      giveUpTurn()
      throw error
    }
    if distrustsCache { return .unknown }
    if before != 0, found == before { return .unchanged }
    guard left == found, left > max(oldTurn, before) else { return .unknown }
    return .left(baton)
  }

  /// What the last process has left that handed the files over.
  private var baton: Baton {
    get {
      let first = Word.batonTurn.rawValue + 1
      return Baton(
        (first..<first + Baton.count).map { unsafe UInt64(littleEndian: words[$0].load(ordering: .relaxed)) }
      )
    }
    set {
      let first = Word.batonTurn.rawValue + 1
      for (number, value) in newValue.values.enumerated() {
        unsafe words[first + number].store(value.littleEndian, ordering: .relaxed)
      }
    }
  }

  /// Waits until a process may have asked for the lock since `seen` was returned, or a second has passed; returns what to give the next
  /// time. At first does not wait.
  func awaitRequest(since seen: UInt32?) -> UInt32 {
    let requests = shared(.requests)
    if let seen, requests.value == seen { requests.wait(while: seen, nanoseconds: 1_000_000_000) }
    return requests.value
  }

  /// Ends waits of ``awaitRequest(since:)``.
  func wakeWaiters() { shared(.requests).advance() }

  // MARK: Readers. Called under the writer's lock, which a close takes before it ends the session.

  /// Whether a record may be replaced; then until ``endReuse()``, readers that come wait.
  ///
  /// Either the reader's look at the second word sees what is stored here, or this sees what the reader has stored before it:
  /// hence one total order.
  @inline(__always)
  func beginReuse() -> Bool {
    unsafe words[6].store(1, ordering: .sequentiallyConsistent)
    if unsafe words[5].load(ordering: .sequentiallyConsistent) == 0 { return true }
    endReuse()
    return false
  }

  /// Whether other processes read the store. Relaxed: who comes at this moment waits for nothing that is not announced.
  @inline(__always)
  var areReaders: Bool { unsafe words[5].load(ordering: .relaxed) != 0 }

  @inline(__always)
  func endReuse() { unsafe words[6].store(0, ordering: .releasing) }

  /// Tells readers, if there are any, that everything up to a number is visible: what they read need not go further.
  @inline(__always)
  func notePublished(_ sequence: UInt64) {
    if areReaders, tellsReaders { unsafe words[7].store(sequence.littleEndian, ordering: .releasing) }
  }

  /// Sets whether this process says what is visible: not while it reads what others have written.
  func tellReaders(_ tells: Bool) { tellsReaders = tells }

  /// Sets whether other processes read the store. What was published is not known again before the next write.
  func set(areReaders: Bool) {
    unsafe words[7].store(0, ordering: .relaxed)
    unsafe words[5].store(areReaders ? 1 : 0, ordering: .sequentiallyConsistent)
  }

  /// Changes the words of the file. The kernel keeps what is stored there, however this process ends.
  private func change(evenIfReleased changesOthers: Bool = false, _ body: (UnsafeMutablePointer<UInt64>) -> Void) {
    lock.withLock {
      if !isEnded, changesOthers || !isReleased { unsafe body(mapping.base.assumingMemoryBound(to: UInt64.self)) }
    }
  }

  /// Releases the lock file. Idempotent.
  func end() {
    let (isFirst, isOurs) = lock.withLock {
      defer { isEnded = true }
      return (!isEnded, !isReleased)
    }
    guard isFirst else { return }
    // As the next writer will assume: so readers have nothing to say meanwhile, and leave the file as it is.
    if isOurs { unsafe words[5].store(1, ordering: .sequentiallyConsistent) }
    file.close()
    // Who waits for one that hands over to nobody looks now and then.
    if isOurs, isShared { shared(.releases).advance() }
    mapping.unmap()
  }
}
