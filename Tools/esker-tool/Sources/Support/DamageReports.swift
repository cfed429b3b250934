import Esker
import Synchronization

/// Reports damage on standard error, each place once: opening a store without a checkpoint reads all its records, so what a
/// command then meets has often been told already.
enum DamageReports {
  private struct Place: Hashable {
    let path: String
    let offset: Int?
  }

  /// As many places as are remembered, so that memory does not grow with the damage. Others may be told twice.
  private static let limit = 10_000
  private static let told = Mutex<Set<Place>>([])

  static func report(_ location: StoreError.Location, _ reason: String) {
    let place = Place(path: location.path, offset: location.offset)
    let isNew = told.withLock { told in
      guard told.count < limit else { return !told.contains(place) }
      return told.insert(place).inserted
    }
    if isNew { StandardError.report(StoreError.damaged(location, reason: reason).description) }
  }
}
