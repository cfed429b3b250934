internal import Esker
internal import EskerLog
internal import EskerPlatform

/// Copies in a keyspace of a log: as they are stored remotely, with their envelopes. Nothing there is trusted by itself. One for all views
/// of a name, so that what they keep has one order.
///
/// What is kept is written by a task, the last of each key alone, and is read from here until then. When too much waits, what was read
/// is not written: what is there is older then, which the next check finds. What a write of this process replaces always is.
final class NearLog: Sendable {
  private static let limit = 1_024
  /// Of how many keys it is remembered that they could not be written.
  private static let unwrittenLimit = 4_096

  private let keyspace: Keyspace
  private let state = Guarded(State(), .leaf)
  /// What waits; nil removes.
  private let writer = LatestWriter<RemoteValue?>()

  private struct State {
    /// For how long what has expired is kept.
    var stale = Duration.zero
    /// Keys of which the log may have something older than it should: it could not be written.
    var unwritten: Set<[UInt8]> = []
    /// There were too many of them.
    var isUseless = false
  }

  /// When copies of processes before this one were last known to be current.
  let leases: LeaseLog

  init(_ keyspace: Keyspace, _ leases: LeaseLog) {
    self.keyspace = keyspace
    self.leases = leases
  }

  /// From now on what has expired is kept for as long as this, or longer.
  func keepStale(for duration: Duration?) { state.withLock { $0.stale = max($0.stale, duration ?? .zero) } }

  /// What is there, if anything can be read: a copy that cannot is as good as none.
  func value(_ key: [UInt8]) async -> RemoteValue? {
    if let pending = writer.pending(key) { return pending }
    guard state.withLock({ !$0.isUseless && !$0.unwritten.contains(key) }) else { return nil }
    guard let bytes = try? await keyspace.async.get(key) else { return nil }
    let value = RemoteValue(stored: bytes)
    return value.envelope == nil ? nil : value
  }

  /// All copies that are there now.
  func copies() throws(StorageError) -> CopyCursor {
    do { return try CopyCursor(keyspace) } catch { throw .store(error) }
  }

  /// Writes what was read soon, or not at all; what has no version is removed.
  func fill(_ value: RemoteValue?, forKey key: [UInt8]) {
    writer.add(value, key, behind: Self.limit) { [self] in await write($0, $1) }
  }

  /// Writes what a write of this process has left soon; nil removes.
  func keep(_ value: RemoteValue?, forKey key: [UInt8]) { writer.add(value, key) { [self] in await write($0, $1) } }

  /// Returns once everything that was kept of a key is in the log, as far as it can be written.
  func settled(_ key: [UInt8]) async { await writer.settled(key) }

  /// Writes nothing any more once this returns.
  func close() async { await writer.close() }

  /// Writes, and notes whether that could be done before the value waits no more: readers look for what waits first.
  private func write(_ value: RemoteValue?, _ key: [UInt8]) async {
    let isWritten = await put(value, key)
    state.withLock { state in
      if isWritten {
        state.unwritten.remove(key)
      } else if state.unwritten.count < Self.unwrittenLimit {
        state.unwritten.insert(key)
      } else {
        state.isUseless = true
      }
    }
  }

  /// Whether it could be written. No power failure is survived: what comes back then is checked, or stale.
  private func put(_ value: RemoteValue?, _ key: [UInt8]) async -> Bool {
    do throws(StoreError) {
      if let value, value.envelope != nil {
        let end = WallTime(millisecondsSince1970: Int64(clamping: value.expiry))
        let expiry: Expiry = value.expiry == 0 ? .never : .at(end.advanced(by: state.withLock { $0.stale }))
        do throws(StoreError) {
          try await keyspace.async.put(value.stored, forKey: key, expiry: expiry, durability: .buffered)
          return true
        } catch {
          // Too large, or no room: then there must not be an older one.
        }
      }
      try await keyspace.async.remove(key, durability: .buffered)
      return true
    } catch {
      return false
    }
  }
}

extension Duration {
  /// Without fractions; 0 if negative.
  var wholeMilliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000)
    return overflow ? .max : product &+ UInt64(attoseconds / 1_000_000_000_000_000)
  }
}
