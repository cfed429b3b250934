import EskerPlatform
import Synchronization

/// What is known of a key whose versions, ascending numbers, one writer at a time writes one after the other.
final class VersionHistory: Sendable {
  /// What a reader knows before it reads.
  struct Floor {
    fileprivate let seen: Int
    fileprivate let gone: Int
  }

  /// The last version whose write began.
  private let begun = Atomic<Int>(0)
  /// The last version that somebody finished writing or reading.
  private let seen = Atomic<Int>(0)
  /// The last version, of those whose write began, that may be absent.
  private let absent = Atomic<Int>(0)
  /// The last version that had been seen before somebody found none.
  private let gone = Atomic<Int>(0)
  /// What the last few steps were, for the message of an objection.
  private let steps = Guarded([String]())

  /// Begins the write of the next version, which is done by `step`; one that `mayBeAbsent` is a removal, or is gone soon.
  func begin(mayBeAbsent: Bool, step: @autoclosure () -> String = "") -> Int {
    let version = begun.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
    if mayBeAbsent { absent.max(version, ordering: .sequentiallyConsistent) }
    note("begin \(version) \(step())")
    return version
  }

  /// Remembers a step for the message of an objection.
  func note(_ step: String) {
    steps.withLock { steps in
      if steps.count >= 24 { steps.removeFirst() }
      steps.append(step)
    }
  }

  var lastSteps: String { steps.withLock { $0.joined(separator: "; ") } }

  /// Any version may be absent, as where the storage evicts.
  func mayAlwaysBeAbsent() { absent.store(.max, ordering: .sequentiallyConsistent) }

  func finish(_ version: Int) {
    seen.max(version, ordering: .sequentiallyConsistent)
    note("end \(version)")
  }

  func finishAll() { finish(begun.load(ordering: .sequentiallyConsistent)) }

  /// To be taken before a read.
  var floor: Floor {
    let gone = gone.load(ordering: .sequentiallyConsistent)
    return Floor(seen: seen.load(ordering: .sequentiallyConsistent), gone: gone)
  }

  /// What is wrong with having read `found`; nil if nothing is.
  func objection(to found: Int?, _ floor: Floor) -> String? {
    guard let found else {
      gone.max(floor.seen, ordering: .sequentiallyConsistent)
      let absent = absent.load(ordering: .sequentiallyConsistent)
      return absent >= floor.seen ? nil : "absent after version \(floor.seen) was seen"
    }
    let begun = begun.load(ordering: .sequentiallyConsistent)
    if found < floor.seen { return "version \(found) after version \(floor.seen) was seen" }
    if found <= floor.gone { return "version \(found) after it was found to be gone" }
    if found > begun { return "version \(found) before its write began" }
    seen.max(found, ordering: .sequentiallyConsistent)
    return nil
  }
}
