internal import Esker

/// Ends the wait of one task as soon as something is reported of its keys, or may not have been reported: a raise, the end of a lease.
///
/// What is reported between ``Coherence/watch(_:)`` and the wait ends it too, so who looks in between misses nothing.
final class ChangeWatch: Sendable {
  let number: UInt64
  let hashes: [UInt64]
  let domains: [UInt16]
  let promise = FlightPromise<Void>()

  init(number: UInt64, hashes: [UInt64], domains: [UInt16]) {
    self.number = number
    self.hashes = hashes
    self.domains = domains
  }
}

/// The watches there are, by the hashes of their keys. Where two keys have one hash, a task looks once more than it must.
struct ChangeWatches {
  private var byHash: [UInt64: [ChangeWatch]] = [:]
  private var all: [UInt64: ChangeWatch] = [:]

  var isEmpty: Bool { all.isEmpty }

  mutating func add(_ watch: ChangeWatch) {
    all[watch.number] = watch
    for hash in watch.hashes { byHash[hash, default: []].append(watch) }
  }

  mutating func remove(_ watch: ChangeWatch) {
    guard all.removeValue(forKey: watch.number) != nil else { return }
    for hash in watch.hashes {
      byHash[hash]?.removeAll { $0 === watch }
      if byHash[hash]?.isEmpty == true { byHash[hash] = nil }
    }
  }

  func of(_ hash: UInt64) -> [ChangeWatch] { all.isEmpty ? [] : byHash[hash] ?? [] }

  func within(_ domains: Range<UInt16>) -> [ChangeWatch] {
    all.values.filter { $0.domains.contains { domains.contains($0) } }
  }

  var everyone: [ChangeWatch] { Array(all.values) }
}

extension Coherence {
  /// Watches keys until ``unwatch(_:)``.
  func watch(_ keys: RemoteKey...) -> ChangeWatch {
    let hashes = keys.map { hash(of: $0) }
    return state.withLock { state in
      let watch = ChangeWatch(number: state.nextID(), hashes: hashes, domains: keys.map(\.domain))
      state.watches.add(watch)
      return watch
    }
  }

  func unwatch(_ watch: ChangeWatch) { state.withLock { $0.watches.remove(watch) } }

  /// Ends the trust in all that is near of a key: the next read asks its owner, and joins none that was asked before.
  func distrust(_ key: RemoteKey) {
    let hash = hash(of: key)
    state.withLock { distrust(key.bytes, hash, &$0) }
  }
}

extension CoherenceEffects {
  mutating func end(_ watches: [ChangeWatch]) {
    for watch in watches { add { watch.promise.land(()) } }
  }
}
