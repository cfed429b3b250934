internal import Esker

/// When copies in a log were last known to be current, at the latest: the time of the last lease, in a keyspace beside them.
///
/// So after a restart nothing seems younger than the time for which no process has heard of changes.
final class LeaseLog: Sendable {
  private static let key = "lease"

  private let storage: LogStorage<String, Int64>
  private let writer = LatestWriter<UInt64>()
  /// When a process before this one had its last lease: milliseconds since 1970 by the server's clock; nil if that is not known.
  private let former: UInt64?

  init(_ store: LogStore, _ keyspace: String) throws(StorageError) {
    storage = try LogStorage(store, keyspace, key: String.self, transformer: .littleEndian)
    let stored: Int64? = try? storage.value(forKey: Self.key)
    former = stored.map { UInt64(clamping: $0) }
  }

  /// When a copy that was written at a time was last known to be current, if nothing else is known of it.
  func endOfTrust(ofWrite time: UInt64) -> UInt64 { min(time, former ?? time) }

  /// Writes soon, the latest last. What cannot be written is not there: copies seem older after a restart.
  func note(_ milliseconds: UInt64) {
    writer.add(milliseconds, []) { [storage] time, _ in
      try? await storage.async.set(Int64(clamping: time), forKey: Self.key)
    }
  }

  /// Writes nothing any more once this returns.
  func close() async { await writer.close() }
}
