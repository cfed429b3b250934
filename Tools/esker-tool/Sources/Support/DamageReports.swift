import Esker
import Foundation
import Synchronization

/// Reports damage on standard error, each place once, and of each file the first few: opening a store without a checkpoint reads all
/// its records, so what a command then meets has often been told already.
enum DamageReports {
  private struct Place: Hashable {
    let path: String
    let offset: Int?
  }

  private static let told = Mutex<(places: Set<Place>, counts: [String: Int])>(([], [:]))

  static func report(_ location: StoreError.Location, _ reason: String) {
    let path = location.path
    let place = Place(path: path, offset: location.offset)
    // How many were told of the file before this one; nil if it was, or too many were.
    let count: Int? = told.withLock { told in
      let count = told.counts[path, default: 0]
      guard count <= DamageLines.most, told.places.insert(place).inserted else { return nil }
      told.counts[path] = count + 1
      return count
    }
    guard let count else { return }
    let store = URL(fileURLWithPath: path).deletingLastPathComponent().path
    StandardError.report(
      count < DamageLines.most
        ? StoreError.damaged(location, reason: reason).description
        : "\(path): more damage, which esker verify \(quotedForShell(store)) sums up"
    )
  }
}
