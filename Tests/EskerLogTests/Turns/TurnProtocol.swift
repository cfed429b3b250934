/// The protocol by which processes write to one log in turn, as a model whose states can all be visited.
///
/// Shared are the lock, the words of `LOCK`, and the log. A step of a process is one access to what is shared, so every order of steps of
/// all processes is looked at, with a kill before each. A killed process comes back as a new one. A power failure takes all of them, and
/// leaves `LOCK` and the log as they were at moments that need not be the same.
struct TurnProtocol: Hashable {
  /// What the words of `LOCK` say.
  struct Words: Hashable {
    /// How many turns have begun.
    var turn = 0
    /// Where the last turn that ended well has left the log: that turn, the segment, and the number of records in it.
    var baton = Baton()
  }

  struct Baton: Hashable {
    var turn = 0
    var segment = 0
    var last = 0
  }

  /// A place of the log: a segment, and a record within it.
  struct Record: Hashable {
    var segment: Int
    var number: Int
    /// The turn in which it was written.
    var turn: Int
  }

  enum Step: Hashable {
    /// Follows, and wants nothing.
    case resting
    /// Has the lock, and is to read the words.
    case locked
    /// Has read them, and is to say that a turn has begun.
    case read(Words)
    /// Has said so, and is to go on where the baton says.
    case takingOver(Baton)
    /// Is to find the end of the log, as after a crash.
    case recovering
    case writing
    /// Has written a part of a record.
    case appending
    /// Has said where the log ends, and is to let go of the lock.
    case leaving
  }

  struct Process: Hashable {
    var step = Step.resting
    /// Turns up to this one may have ended before it began to follow.
    var seen = 0
    /// Its own turn.
    var turn = 0
    /// What it has read of the log, and the segment in which the next record is to be.
    var records: [Record] = []
    var segment = 0
  }

  /// What is left out or turned round.
  enum Mistake: CaseIterable {
    /// Two hold the lock.
    case locksNothing
    /// The turn of a process that was killed is taken for the one before it.
    case turnIsNotCounted
    /// Any turn is taken for one that has ended well.
    case batonIsNotCompared
    /// A new process trusts what was there before it came, which a power failure may have left.
    case oldBatonIsTrusted
    /// A process goes on without having read what the others wrote.
    case doesNotFollow
    /// A process writes on behind the end that a crash has left, in the same segment.
    case recoversInTheSameSegment
    /// A process says where the log ends, and writes one more record.
    case writesOn
  }

  var words = Words()
  var holder: Int?
  var log: [Record] = []
  /// The segment that a recovery would begin.
  var nextSegment = 1
  /// Segments behind whose last record is a part of another.
  var torn: Set<Int> = []
  /// Records whose writes have returned.
  var acknowledged: Set<Record> = []
  var processes: [Process]
  var killsLeft: Int
  var powerFailuresLeft: Int
  /// `LOCK` as it is on disk.
  var wordsOnDisk = Words()
  /// Whether a process has written over what a crash has left.
  private var hasWrittenOver = false

  init(processes: Int, kills: Int, powerFailures: Int) {
    self.processes = Array(repeating: Process(), count: processes)
    killsLeft = kills
    powerFailuresLeft = powerFailures
  }
}

extension TurnProtocol {
  /// The most records and turns that are looked at.
  static let most = (records: 3, turns: 3)

  /// What is wrong with this state; nil if nothing is.
  var fault: String? {
    for record in acknowledged where !log.contains(record) { return "\(record) is lost" }
    for (position, record) in log.enumerated() where record.number != position + 1 {
      return "there is a gap in front of \(record)"
    }
    return hasWrittenOver ? "a record was written over what a crash has left" : nil
  }

  /// All states that one step may lead to.
  func successors(_ mistake: Mistake?) -> [TurnProtocol] {
    var result = processes.indices.flatMap { steps(of: $0, mistake) }
    if killsLeft > 0 {
      for number in processes.indices {
        var killed = self
        killed.killsLeft -= 1
        killed.replace(number)
        result.append(killed)
      }
    }
    return powerFailuresLeft > 0 ? result + powerFailures : result
  }

  /// A process ends, and another opens the store beside those that are left.
  private mutating func replace(_ number: Int) {
    processes[number] = Process()
    if holder == number { holder = nil }
    processes[number].seen = words.baton.turn == words.turn ? words.turn : words.turn - 1
    follow(number)
  }

  /// The system has written whatever it liked of what was not synced.
  private var powerFailures: [TurnProtocol] {
    [wordsOnDisk, words].flatMap { words in
      (0...log.count).map { count in
        var next = self
        next.powerFailuresLeft -= 1
        next.words = words
        next.holder = nil
        next.log = Array(log.prefix(count))
        next.torn = Set(0..<nextSegment)
        next.acknowledged.formIntersection(next.log)
        for number in processes.indices { next.replace(number) }
        return next
      }
    }
  }

  private func steps(of number: Int, _ mistake: Mistake?) -> [TurnProtocol] {
    var next = self
    let process = processes[number]
    func go(_ step: Step) -> [TurnProtocol] {
      next.processes[number].step = step
      return [next]
    }
    switch process.step {
    case .resting:
      var result: [TurnProtocol] = []
      if process.records != log {
        var looking = self
        looking.follow(number)
        result.append(looking)
      }
      if mistake == .writesOn, process.turn != 0 { result += appending(number) }
      guard words.turn < Self.most.turns, holder == nil || mistake == .locksNothing else { return result }
      next.holder = number
      return result + go(.locked)
    case .locked:
      return go(.read(words))
    case .read(let read):
      let isCounted = mistake != .turnIsNotCounted || read.turn == 0
      next.words.turn = read.turn + (isCounted ? 1 : 0)
      next.processes[number].turn = next.words.turn
      let isOwn = process.turn != 0 && read.turn == process.turn
      let isValid = read.baton.turn == read.turn && read.turn != 0 || mistake == .batonIsNotCompared
      let isNew = isOwn || read.baton.turn > process.seen || mistake == .oldBatonIsTrusted
      return go(isValid && isNew ? .takingOver(read.baton) : .recovering)
    case .takingOver(let baton):
      if mistake != .doesNotFollow {
        next.follow(number)
        // Where they do not agree, it does not trust the baton.
        let mine = next.processes[number]
        guard mine.records.count == baton.last else { return go(.recovering) }
      }
      next.processes[number].segment = baton.segment
      return go(.writing)
    case .recovering:
      next.follow(number)
      if mistake != .recoversInTheSameSegment {
        next.processes[number].segment = nextSegment
        next.nextSegment += 1
      }
      return go(.writing)
    case .writing:
      next.words.baton = Baton(turn: process.turn, segment: process.segment, last: process.records.count)
      return appending(number) + go(.leaving)
    case .appending:
      // Its first word makes it a record, where this process takes the end of the log to be.
      let record = Record(segment: process.segment, number: process.records.count + 1, turn: process.turn)
      if process.records.count < log.count { next.log[process.records.count] = record } else { next.log.append(record) }
      next.processes[number].records.append(record)
      next.acknowledged.insert(record)
      next.torn.remove(process.segment)
      return go(holder == number ? .writing : .resting)
    case .leaving:
      if next.holder == number { next.holder = nil }
      next.processes[number].seen = process.turn
      // The system writes the file when it likes: once in a while.
      var written = next
      written.wordsOnDisk = words
      written.processes[number].step = .resting
      return go(.resting) + [written]
    }
  }

  private func appending(_ number: Int) -> [TurnProtocol] {
    guard processes[number].records.count < Self.most.records else { return [] }
    var next = self
    if !next.torn.insert(processes[number].segment).inserted { next.hasWrittenOver = true }
    next.processes[number].step = .appending
    return [next]
  }

  /// Reads the log on.
  private mutating func follow(_ number: Int) {
    processes[number].records = log
    processes[number].segment = log.last?.segment ?? 0
  }
}

extension TurnProtocol {
  /// Visits all states that can be reached.
  ///
  /// - Returns: how many there are, and how the first fault found comes about: the states up to it.
  static func search(_ start: TurnProtocol, _ mistake: Mistake? = nil) -> (states: Int, fault: String?) {
    var seen: Set<TurnProtocol> = [start]
    var layer = [start]
    while !layer.isEmpty {
      var next: [TurnProtocol] = []
      for state in layer {
        for successor in state.successors(mistake) where seen.insert(successor).inserted {
          if let fault = successor.fault { return (seen.count, fault) }
          next.append(successor)
        }
      }
      layer = next
    }
    return (seen.count, nil)
  }
}
