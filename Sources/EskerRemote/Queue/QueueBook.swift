internal import EskerLog

/// The state of a queue in memory, without values: the newest record of each key, which key is next, and which must wait for a retry.
///
/// The log is written before the book: a writer announces itself, writes its record, and notes it; a replay takes a key, removes the
/// record that it has applied, if that is still the one, and settles it. Sequence numbers distinguish the records of a key.
struct QueueBook {
  struct Entry {
    var record: SequenceNumber
    var version: RemoteVersion
    /// What replays of older records have left at the owner, as far as they were answered; nil: what the record says.
    var left: QueuedBase?
    /// What it counts towards the limit of bytes.
    var size: Int
    /// When it was acknowledged, by the coarse monotonic clock, in nanoseconds; negative if that was before the machine began.
    var since: Int64
    var state = TurnState.idle
    /// How often the owner has refused it, or the log to let go of it.
    var refusals = 0

    /// Whether it may be given up now, if it is too old.
    var canBeGivenUp: Bool { state != .underWay && state != .stuck }
  }

  enum TurnState {
    /// In no line: not connected yet, or its newest record is being written.
    case idle
    case inLine, underWay, resting
    /// Too old, and resting since its record could not be removed.
    case stuck
  }

  /// The keys of a domain that wait for their turn.
  private struct Line {
    var keys = FIFOQueue<[UInt8]>()
    var failures = 0
    var place = Place.none

    enum Place { case none, active, parked, resting }
  }

  private enum Resting {
    case key([UInt8])
    case domain(UInt16)
  }

  private(set) var entries: [[UInt8]: Entry] = [:]
  /// Writers of a key between their announcement and their note.
  private struct Writers {
    var count = 0
    /// Up to which record a replay has settled the key meanwhile.
    var settled = SequenceNumber(rawValue: 0)
    /// What a replay has left at the owner meanwhile: newer than what they know.
    var base: QueuedBase?
  }

  private var writers: [[UInt8]: Writers] = [:]
  /// Whether nobody writes the log, or is about to.
  var isQuiet: Bool { underWay == 0 && writers.isEmpty }
  private var lines: [UInt16: Line] = [:]
  /// Domains with keys in line that may be asked, in turn; those without a lease are parked.
  private var active = FIFOQueue<UInt16>()
  private var parked: Set<UInt16> = []
  /// The next to be tried again stands last.
  private var rests: [(end: RemoteInstant, what: Resting)] = []
  /// By record; those that are none of the newest are skipped.
  private var order = FIFOQueue<(key: [UInt8], record: SequenceNumber)>()
  /// The newest record that was noted.
  private(set) var newest = SequenceNumber(rawValue: 0)
  private(set) var bytes = 0
  private(set) var reserved = (count: 0, bytes: 0)
  private(set) var underWay = 0
  /// Records that were logged, or found in the log.
  private var logged: UInt64 = 0
  /// What became of them.
  var outcomes = RemoteQueueStatistics()

  /// Outcomes, and what waits. Whatever else was logged was replaced.
  mutating func statistics(at now: Int64) -> RemoteQueueStatistics {
    var statistics = outcomes
    statistics.count = entries.count
    statistics.bytes = bytes
    statistics.oldestAge = oldest().map { .nanoseconds(max(0, now - $0.entry.since)) }
    let others = outcomes.applied + outcomes.superseded + outcomes.failed + UInt64(entries.count)
    statistics.replaced = logged - min(logged, others)
    return statistics
  }

  // MARK: Writers

  /// Announces a write of `size` bytes; refused if it does not fit within the limits.
  mutating func announce(_ key: [UInt8], size: Int, _ options: RemoteQueueOptions) -> RemoteQueueFull? {
    let present = entries[key]?.size ?? 0
    let count = entries.count + reserved.count + (entries[key] == nil ? 1 : 0)
    guard count <= options.countLimit, bytes + reserved.bytes + size - present <= options.byteLimit else {
      return RemoteQueueFull(count: entries.count, bytes: bytes, needed: size)
    }
    reserved.bytes += size
    if entries[key] == nil { reserved.count += 1 }
    writers[key, default: Writers()].count += 1
    return nil
  }

  /// Notes what an announced writer has logged, or that it has failed; whether the key has begun to wait by it.
  ///
  /// - Parameter wasKnown: whether the key waited when the write was announced.
  mutating func note(_ key: [UInt8], _ entry: Entry?, size: Int, wasKnown: Bool) -> Bool {
    let settled = writers[key]?.settled ?? SequenceNumber(rawValue: 0)
    writers[key]?.count -= 1
    if writers[key]?.count == 0 { writers[key] = nil }
    reserved.bytes -= size
    if !wasKnown { reserved.count -= 1 }
    if entry != nil { logged += 1 }
    // A replay has seen the record before its writer came here.
    guard let entry, entry.record > settled else { return false }
    return add(key, entry)
  }

  /// Adds what an earlier process has left.
  mutating func load(_ key: [UInt8], _ entry: Entry) {
    logged += 1
    _ = add(key, entry)
  }

  /// A record was found that cannot be read.
  mutating func noteUnreadable() {
    logged += 1
    outcomes.failed += 1
  }

  /// Adds what is in the log; whether the key has begun to wait by it.
  private mutating func add(_ key: [UInt8], _ entry: Entry) -> Bool {
    guard var known = entries[key] else {
      entries[key] = entry
      bytes += entry.size
      enter(key, entry.record)
      return true
    }
    guard entry.record > known.record else { return false }
    bytes += entry.size - known.size
    known.record = entry.record
    known.version = entry.version
    known.size = entry.size
    known.since = entry.since
    known.refusals = 0
    entries[key] = known
    enter(key, entry.record)
    return false
  }

  private mutating func enter(_ key: [UInt8], _ record: SequenceNumber) {
    newest = max(newest, record)
    if order.count > 2 * entries.count + 64 {
      order.keep { [entries] in entries[$0.key]?.record == $0.record }
    }
    order.insert((key, record)) { $0.record < record }
  }

  // MARK: Turns

  /// Puts a key into the line of its domain, unless it is in one, rests, or is under way.
  mutating func line(up key: [UInt8], in domain: UInt16) {
    guard entries[key]?.state == .idle else { return }
    entries[key]?.state = .inLine
    lines[domain, default: Line()].keys.append(key)
    activate(domain)
  }

  private mutating func activate(_ domain: UInt16) {
    guard lines[domain]?.place == Line.Place.none else { return }
    lines[domain]?.place = .active
    active.append(domain)
  }

  /// Leases have begun or go on.
  mutating func wake(_ range: Range<UInt16>) {
    if parked.isEmpty { return }
    for domain in parked where range.contains(domain) {
      parked.remove(domain)
      lines[domain]?.place = .none
      activate(domain)
    }
  }

  /// The next key to be replayed; it is under way then. Nil if there is none, or enough are.
  mutating func next(
    atMost limit: Int,
    isLeased: (UInt16) -> Bool
  ) -> (key: [UInt8], domain: UInt16, entry: Entry)? {
    while underWay < limit, let domain = active.first {
      active.popFirst()
      lines[domain]?.place = .none
      if !isLeased(domain) {
        lines[domain]?.place = .parked
        parked.insert(domain)
        continue
      }
      while let key = lines[domain]?.keys.popFirst() {
        guard let entry = entries[key], entry.state == .inLine else { continue }
        entries[key]?.state = .underWay
        underWay += 1
        if lines[domain]?.keys.isEmpty == false { activate(domain) }
        return (key, domain, entry)
      }
      lines[domain] = nil
    }
    return nil
  }

  /// A replay of a domain succeeded: whatever was wrong is over.
  mutating func forgive(_ domain: UInt16) {
    lines[domain]?.failures = 0
    if let line = lines[domain], line.keys.isEmpty, line.place == .none { lines[domain] = nil }
  }

  /// The whole domain rests, until when `end` says for a number of failures in a row.
  mutating func rest(_ domain: UInt16, until end: (Int) -> RemoteInstant) {
    var line = lines[domain] ?? Line()
    // Those that were under way together fail together.
    guard line.place != .resting else { return }
    if line.place == .active { active.keep { $0 != domain } }
    parked.remove(domain)
    line.failures += 1
    line.place = .resting
    lines[domain] = line
    rest(.domain(domain), until: end(line.failures))
  }

  /// A key that the owner refuses, or that cannot be given up, rests by itself, until when `end` says for a number of refusals.
  mutating func rest(_ key: [UInt8], isStuck: Bool = false, until end: (Int) -> RemoteInstant) {
    entries[key]?.refusals += 1
    guard let refusals = entries[key]?.refusals else { return }
    entries[key]?.state = isStuck ? .stuck : .resting
    rest(.key(key), until: end(refusals))
  }

  private mutating func rest(_ what: Resting, until end: RemoteInstant) {
    var (low, high) = (0, rests.count)
    while low < high {
      let middle = (low + high) / 2
      if rests[middle].end > end { low = middle + 1 } else { high = middle }
    }
    rests.insert((end, what), at: low)
  }

  /// Ends the rests that are over; the keys that have to be put in line.
  mutating func endRests(at now: RemoteInstant) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    while let last = rests.last, last.end <= now {
      rests.removeLast()
      switch last.what {
      case .key(let key):
        guard let state = entries[key]?.state, state == .resting || state == .stuck else { continue }
        entries[key]?.state = .idle
        keys.append(key)
      case .domain(let domain):
        guard lines[domain]?.place == .resting else { continue }
        lines[domain]?.place = .none
        activate(domain)
      }
    }
    return keys
  }

  /// When the next rest ends.
  var nextEnd: RemoteInstant? { rests.last?.end }

  // MARK: Endings

  /// The record is no longer in the log; whether the key waits no more. If there is a newer one, that waits on what was applied.
  mutating func settle(_ key: [UInt8], _ record: SequenceNumber) -> Bool {
    if let settled = writers[key]?.settled { writers[key]?.settled = max(settled, record) }
    guard let entry = entries[key], entry.record <= record else { return false }
    if entry.state == .underWay { underWay -= 1 }
    bytes -= entry.size
    entries[key] = nil
    return true
  }

  /// A replay has ended, and the key still waits.
  mutating func putDown(_ key: [UInt8]) {
    guard entries[key]?.state == .underWay else { return }
    entries[key]?.state = .idle
    underWay -= 1
  }

  /// What a replay has left is what the next one is written on; called before the record is removed, so that a writer who finds no
  /// record knows it.
  mutating func rebase(_ key: [UInt8], on base: QueuedBase) {
    writers[key]?.base = base
    if entries[key]?.state == .underWay { entries[key]?.left = base }
  }

  /// A replay was sent, and nobody knows whether it was made.
  mutating func doubt(_ key: [UInt8], _ value: RemoteValue?) {
    if let base = writers[key]?.base { writers[key]?.base = base.followed(by: value) }
    if let left = entries[key]?.left { entries[key]?.left = left.followed(by: value) }
  }

  /// What an announced writer of a key without a record must know.
  func base(forWriterOf key: [UInt8]) -> QueuedBase? { writers[key]?.base }

  /// The oldest key that waits, and since when.
  mutating func oldest() -> (key: [UInt8], entry: Entry)? {
    while let first = order.first {
      if let entry = entries[first.key], entry.record == first.record { return (first.key, entry) }
      order.popFirst()
    }
    return nil
  }

  /// Takes the oldest key, if it has waited since `limit` or longer and can be given up; it is under way then.
  mutating func takeTooOld(since limit: Int64) -> (key: [UInt8], record: SequenceNumber)? {
    guard let (key, entry) = oldest(), entry.since <= limit, entry.canBeGivenUp else { return nil }
    entries[key]?.state = .underWay
    underWay += 1
    return (key, entry.record)
  }

  /// Whether all records up to one are settled, or were replaced.
  mutating func isDrained(to record: SequenceNumber) -> Bool {
    guard let oldest = oldest() else { return true }
    return oldest.entry.record > record
  }
}
