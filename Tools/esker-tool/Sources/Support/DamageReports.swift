import Esker
import Foundation
import Synchronization

/// Reports damage on standard error, each place once, of each file the first few, and not too many of all: opening a store without a
/// checkpoint reads all its records, so what a command then meets has often been told already.
enum DamageReports {
  private struct Place: Hashable {
    let path: String
    let offset: Int?
  }

  private struct Reported {
    var places: Set<Place> = []
    /// How many were met in each file.
    var counts: [String: Int] = [:]
    var named = 0
    /// How many were left out, and the store of the last one.
    var others = 0
    var store = ""
  }

  private static let reported = Mutex(Reported())

  static func report(_ location: StoreError.Location, _ reason: String) {
    let path = location.path
    let place = Place(path: path, offset: location.offset)
    let isNamed = reported.withLock { reported in
      guard reported.places.insert(place).inserted else { return false }
      reported.counts[path, default: 0] += 1
      guard reported.counts[path, default: 0] <= DamageLines.most, reported.named < DamageLines.mostInAll else {
        reported.others += 1
        reported.store = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return false
      }
      reported.named += 1
      return true
    }
    if isNamed { StandardError.report(StoreError.damaged(location, reason: reason).description) }
  }

  /// Says how many places were left out since it was last called, if any were.
  static func reportOthers() {
    let (count, store) = reported.withLock { reported in
      defer { reported.others = 0 }
      return (reported.others, reported.store)
    }
    guard count > 0 else { return }
    StandardError.report(
      "\(NumberText.count(count, "more place")) of damage, which esker verify \(quotedForShell(store)) sums up"
    )
  }
}
