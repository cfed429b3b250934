@testable import EskerLog

/// A copy of a store that is kept up to date by its changes.
struct Replica {
  private var spaces: [String: [[UInt8]: (value: [UInt8], expiry: Int64)]] = [:]
  /// The last write in it.
  private(set) var position: SequenceNumber

  init(of snapshot: Snapshot) throws {
    position = snapshot.sequence
    for entry in snapshot {
      spaces[entry.keyspace, default: [:]][try entry.key()] = (try entry.value(), entry.expiry.milliseconds)
    }
  }

  mutating func apply(_ change: LogChange) {
    position = change.sequence
    switch change.kind {
    case .put(let value, let expiry):
      spaces[change.keyspace, default: [:]][change.key] = (value, expiry.milliseconds)
    case .remove: spaces[change.keyspace]?[change.key] = nil
    case .removeAll: spaces[change.keyspace] = nil
    }
  }

  /// What a snapshot of the same history shows at `time`.
  func contents(of space: String, at time: Int64) -> [[UInt8]: [UInt8]] {
    (spaces[space] ?? [:]).filter { $0.value.expiry > time }.mapValues(\.value)
  }
}

extension Expiry {
  fileprivate var milliseconds: Int64 {
    if case .at(let instant) = self { instant.millisecondsSince1970 } else { .max }
  }
}

extension LogStore.Changes {
  /// The changes up to a write that is there.
  func take(through last: SequenceNumber, after start: SequenceNumber = SequenceNumber(rawValue: 0)) async throws
    -> [LogChange]
  {
    var taken: [LogChange] = []
    var iterator = makeAsyncIterator()
    while (taken.last?.sequence ?? start) < last, let change = try await iterator.next() { taken.append(change) }
    return taken
  }

  /// The next `count` changes, or as many as there are before the end.
  func take(_ count: Int) async throws -> [LogChange] {
    var taken: [LogChange] = []
    var iterator = makeAsyncIterator()
    while taken.count < count, let change = try await iterator.next() { taken.append(change) }
    return taken
  }

  /// What is thrown instead of the next change.
  func nextError() async -> StoreError? {
    var iterator = makeAsyncIterator()
    do throws(StoreError) {
      _ = try await iterator.next()
      return nil
    } catch {
      return error
    }
  }
}
