import Foundation

/// Whether what processes saw fits what the servers did: for each process and key, nothing goes back, own writes are seen, and what is
/// read was current a lease ago or later. A write that was lost may be seen, until something newer or older is.
final class Checker {
  /// The longest that anything may be stale: a lease, and the step of the clocks.
  let bound: Int
  let truth: Truth
  private(set) var violations: [String] = []
  private(set) var checked = 0
  /// Reads that found a lost write gone, which the process was not told.
  private(set) var untold: [String] = []
  private(set) var rollbacks = 0
  /// How stale reads were, in microseconds; those that were not are not here.
  private(set) var stale: [Int] = []
  private(set) var tiers: [Character: Int] = [:]

  init(_ truth: Truth, bound: Int) {
    self.truth = truth
    self.bound = bound
  }

  func check(_ process: ProcessHistory) {
    for (key, operations) in process.operations.sorted(by: { $0.key < $1.key }) { check(process, key, operations) }
  }

  /// What a process knows of a key.
  private struct Known {
    /// How it saw that.
    var lostSeen = ""
    /// The last place it has seen of what survived, and of what was lost.
    var surviving = -1
    var lost = -1
    /// Whether it has seen nothing there since: a removal has no version, so that it was lost cannot be noticed.
    var isGone = false
    /// Takeovers after which it has seen what was before.
    var isOver: Set<Int> = []
  }

  private func check(_ process: ProcessHistory, _ key: String, _ operations: [Operation]) {
    let events = truth.events[key] ?? []
    var known = Known()
    var snapshots = [Known](repeating: Known(), count: operations.count)
    // What begins at the instant at which something else ends need not see it.
    var steps: [(time: Int, isReturn: Bool, place: Int)] = []
    for (place, operation) in operations.enumerated() {
      steps.append((operation.invoked, false, place))
      steps.append((operation.returned, true, place))
    }
    steps.sort { ($0.time, $0.isReturn ? 1 : 0, $0.place) < ($1.time, $1.isReturn ? 1 : 0, $1.place) }
    for step in steps {
      guard step.isReturn else {
        snapshots[step.place] = known
        continue
      }
      let operation = operations[step.place]
      let before = snapshots[step.place]
      checked += 1
      func fail(_ text: String) {
        violations.append("process \(process.name), \(key), \(operation.invoked)-\(operation.returned): \(text)")
      }
      switch operation.kind {
      case .read(let token?, let tier):
        tiers[tier, default: 0] += 1
        guard let place = truth.places[token] else {
          if !isUnrecorded(operation) { fail("read \(token), which nobody wrote") }
          continue
        }
        let event = events[place]
        if let takeover = event.lostIn {
          if place < max(before.surviving, before.lost) {
            fail("\(token), which was lost, is older than what was seen")
          }
          if before.isOver.contains(takeover) { fail("\(token) was lost, and what was before was seen already") }
          if place > known.lost { (known.lost, known.lostSeen, known.isGone) = (place, "\(operation)", false) }
        } else {
          if place < before.surviving {
            fail("\(token) (\(tier)) is older than \(events[before.surviving].token ?? "a removal")")
          }
          if before.lost > place, let takeover = events[before.lost].lostIn {
            // A write that waited has an earlier version than others that were made before it: its loss cannot be noticed.
            let isNoticeable = event.version.lexicographicallyPrecedes(events[before.lost].version)
            if isNoticeable, !known.isGone, !before.isOver.contains(takeover) {
              noteRollback(process, before.lostSeen, takeover, operation)
            }
            known.isOver.insert(takeover)
          }
          known.surviving = max(known.surviving, place)
        }
        noteStaleness(of: place, events, operation, fail)
      case .read(nil, _):
        tiers["-", default: 0] += 1
        known.isGone = true
        if let place = removal(events, from: before.surviving, by: operation.returned) {
          known.surviving = max(known.surviving, place)
        } else if before.surviving >= 0,
          removal(events, from: before.surviving, by: operation.returned, orLost: true) == nil
        {
          fail("nothing is there, although \(events[before.surviving].token ?? "") was")
        }
        // One that was lost may be seen until what was before is.
        let last = events[..<count(of: events, until: operation.returned)].lastIndex { event in
          event.token == nil && event.lostIn.map { !before.isOver.contains($0) } ?? true
        }
        if let last {
          noteStaleness(of: last, events, operation, fail)
        }
      case .done(let token?):
        guard let place = truth.places[token] else {
          if !isUnrecorded(operation) { fail("\(token) was acknowledged, and no server has executed it") }
          continue
        }
        if events[place].lostIn != nil {
          if place > known.lost { (known.lost, known.lostSeen, known.isGone) = (place, "\(operation)", false) }
        } else {
          if place < before.surviving { fail("\(token) was written before what was seen before") }
          known.surviving = max(known.surviving, place)
        }
      case .done(nil):
        known.isGone = true
        let first = count(of: events, until: operation.invoked - 1)
        let place = events[first..<count(of: events, until: operation.returned)]
          .firstIndex { $0.token == nil && $0.lostIn == nil }
        if let place { known.surviving = max(known.surviving, place) }
      case .failed(let token?):
        if truth.places[token] != nil { fail("\(token) was executed, and its writer was told that it never would be") }
      case .failed(nil), .unknown: break
      }
    }
  }

  /// How many events there were until an instant.
  private func count(of events: [Truth.Event], until time: Int) -> Int {
    var (low, high) = (0, events.count)
    while low < high {
      let middle = (low + high) / 2
      if events[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The first removal that may have been seen.
  private func removal(_ events: [Truth.Event], from place: Int, by time: Int, orLost: Bool = false) -> Int? {
    guard place >= 0 else { return nil }
    return events[place..<max(place, count(of: events, until: time))].firstIndex {
      $0.token == nil && (orLost || $0.lostIn == nil)
    }
  }

  /// Whether something came so shortly before a kill that the monitor may not have told it.
  private func isUnrecorded(_ operation: Operation) -> Bool {
    truth.takeovers.contains { takeover in
      takeover.killedAt.map { abs($0 - operation.returned) < 100_000 } ?? false
    }
  }

  private func noteStaleness(
    of place: Int,
    _ events: [Truth.Event],
    _ operation: Operation,
    _ fail: (String) -> Void
  ) {
    guard let next = events[(place + 1)...].first(where: { $0.lostIn == nil }), next.time < operation.invoked else {
      return
    }
    let age = operation.invoked - next.time
    stale.append(age)
    guard age > bound else { return }
    // What was there since, and when, in milliseconds before the read.
    let around = events[max(0, place - 1)...].prefix { $0.time <= operation.returned }.prefix(8).map { event in
      "\((operation.invoked - event.time) / 1_000): \(event.token ?? "removed") by \(event.server)\(event.lostIn == nil ? "" : ", lost")"
    }
    let latest = events[..<count(of: events, until: operation.returned)].suffix(3).map {
      "\((operation.invoked - $0.time) / 1_000): \($0.token ?? "removed") by \($0.server)\($0.lostIn == nil ? "" : ", lost")"
    }
    fail("\(events[place].token ?? "nothing") was replaced \(age / 1_000) ms before: \(around) ... \(latest)")
  }

  private func noteRollback(_ process: ProcessHistory, _ seen: String, _ takeover: Int, _ operation: Operation) {
    rollbacks += 1
    let wasTold = process.rollbacks.contains {
      $0.key == operation.key && $0.time >= truth.takeovers[takeover].begin && $0.time <= operation.returned + 1_000
    }
    if !wasTold { untold.append("process \(process.name): \(operation), after \(seen)") }
  }

  var summary: String {
    let sorted = stale.sorted()
    func share(_ part: Double) -> Double {
      sorted.isEmpty ? 0 : Double(sorted[Int(Double(sorted.count - 1) * part)]) / 1_000
    }
    let stale = String(
      format: "%d stale reads: p50 %.2f, p99 %.2f, max %.1f ms",
      sorted.count,
      share(0.5),
      share(0.99),
      share(1)
    )
    return
      "\(checked) operations checked (\(tiers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))), "
      + "\(truth.lost) lost writes, \(rollbacks) seen to be gone, \(untold.count) of them untold, \(stale)"
  }
}
