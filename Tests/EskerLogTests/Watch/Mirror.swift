import EskerPlatform
import Testing

@testable import EskerLog

/// What a listener knows of a keyspace that it has heard of from the beginning.
final class Mirror: ChangeListener {
  struct Counts {
    var puts = 0
    var removals = 0
    var expiries = 0
    var evictions = 0
    var emptyings = 0
  }

  private struct State {
    var contents: [[UInt8]: [UInt8]] = [:]
    var counts = Counts()
    var faults: [String] = []
    var batch: UInt64?
    var lastBatch: UInt64 = 0
  }

  private let state = Guarded(State())

  var contents: [[UInt8]: [UInt8]] { state.withLock { $0.contents } }
  var counts: Counts { state.withLock { $0.counts } }

  /// The number of the last batch, which has ended.
  var lastBatch: UInt64 { state.withLock { $0.lastBatch } }

  func beginBatch(_ sequence: UInt64) {
    state.withLock { state in
      // The same may begin more than once.
      if let batch = state.batch, batch != sequence { state.faults.append("batch \(sequence) begins within \(batch)") }
      if sequence <= state.lastBatch { state.faults.append("batch \(sequence) after \(state.lastBatch)") }
      state.batch = sequence
    }
  }

  func endBatch() {
    state.withLock { state in
      state.lastBatch = state.batch ?? state.lastBatch
      state.batch = nil
    }
  }

  /// Changes that did not take up where the one before left off.
  var faults: [String] { state.withLock { $0.faults } }

  func receive(_ key: [UInt8]?, _ change: () -> KeyspaceChange) {
    let change = change()
    state.withLock { state in
      switch change {
      case .put(let changed, let before, let after):
        if changed != key || (try? before?.get()) != state.contents[changed] {
          state.faults.append("\(change) over \(String(describing: state.contents[changed]))")
        }
        state.contents[changed] = after
        state.counts.puts += 1
      case .loss(let changed, let before, let cause):
        if changed != key || (try? before.get()) != state.contents[changed] {
          state.faults.append("\(change) over \(String(describing: state.contents[changed]))")
        }
        state.contents[changed] = nil
        switch cause {
        case .removal: state.counts.removals += 1
        case .expiry: state.counts.expiries += 1
        case .eviction: state.counts.evictions += 1
        }
      case .emptied:
        if key != nil { state.faults.append("emptied \(String(describing: key))") }
        state.contents = [:]
        state.counts.emptyings += 1
      }
    }
  }
}
