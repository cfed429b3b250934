internal import EskerFormat
internal import EskerPlatform

/// The last reset of each keyspace that was emptied or removed since the store was opened.
///
/// Invariant: a manifest names what a reset has begun only once the record that did it is durable, and until then the last incarnation that
/// is. Thread safety: any thread.
final class KeyspaceResets: Sendable {
  private struct Reset {
    var sequence: UInt64
    /// The last incarnation whose reset is durable, and the current one.
    var before: UInt32
    var after: UInt32
  }

  private let commits: CommitQueue
  private let resets = Guarded<[UInt32: Reset]>([:], .keyspaces)

  init(_ commits: CommitQueue) {
    self.commits = commits
  }

  /// Notes that a keyspace was emptied or removed by the record with this number, which may not be durable yet; 0 if it is.
  func note(_ keyspace: KeyspaceTag, from old: UInt32, at sequence: UInt64) {
    let durable = commits.durableSequence
    resets.withLock { resets in
      // The manifest names the last incarnation that is durable, however many resets follow it.
      let known = resets[keyspace.id]
      let before = known.map { $0.sequence > durable ? $0.before : old } ?? old
      resets[keyspace.id] = Reset(sequence: sequence, before: before, after: keyspace.incarnation)
    }
  }

  /// The last record that emptied or removed a keyspace; 0 if none has. Until it is durable, no manifest names what it began.
  var last: UInt64 { resets.withLock { $0.values.reduce(0) { max($0, $1.sequence) } } }

  /// Sets the incarnations that a manifest is to name.
  ///
  /// - Parameter durable: The last write that is durable, for all of the manifest.
  func apply(to rows: inout [KeyspaceRow], durable: UInt64) {
    resets.withLock { resets in
      for position in rows.indices {
        guard let reset = resets[rows[position].id] else { continue }
        rows[position].incarnation = reset.sequence > durable ? reset.before : reset.after
      }
    }
  }
}
