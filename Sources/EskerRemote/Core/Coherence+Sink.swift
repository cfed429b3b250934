internal import EskerLog

// What the store tells.
extension Coherence {
  func changed(_ key: RawSpan, domain: UInt16, at stamp: RemoteStamp) {
    counters.changes.count()
    let hash = hash(of: key)
    let (isObserved, ended) = state.withLock { state in
      state.verified.remove(hash)
      _ = state.active.with(hash, key) { $0.noteChange(at: stamp, keepingReplies: faults.contains(.noFence)) }
      for tier in state.tiers { tier.distrust(key, unless: nil, at: now()) }
      return (state.isObserved, state.watches.of(hash))
    }
    for watch in ended { watch.promise.land(()) }
    if isObserved { report(.changed([UInt8](copying: key))) }
  }

  func raised(_ range: Range<UInt16>, to generation: UInt32) {
    counters.raises.count()
    var effects = CoherenceEffects()
    let isObserved = state.withLock { state in
      let now = now()
      for domain in range {
        let index = Int(domain)
        state.ends[index].formerGeneration = domains.generation(domain)
        state.ends[index].formerEnd = min(state.ends[index].leaseEnd, now)
        state.ends[index].leaseEnd = RemoteInstant(nanoseconds: 0)
        let isKept = faults.contains(.keepEpoch) && domains.generation(domain) != 0
        domains.raise(domain, to: isKept ? domains.generation(domain) : generation)
      }
      settleConfirming(&state, &effects) { range.contains($0.key.domain) ? .failure(.unknownOutcome) : nil }
      effects.end(state.watches.within(range))
      return state.isObserved
    }
    effects.run()
    if isObserved { report(.raised(range)) }
  }

  func trusted(_ range: Range<UInt16>, in generation: UInt32, until instant: RemoteInstant) {
    var effects = CoherenceEffects()
    let isObserved = state.withLock { state in
      for domain in range {
        guard domains.generation(domain) == generation || faults.contains(.keepEpoch) else { continue }
        if state.ends[Int(domain)].leaseEnd < instant {
          state.ends[Int(domain)].leaseEnd = instant
          domains.setLeaseEnd(domain, instant)
        }
      }
      settleConfirming(&state, &effects) { item in
        range.contains(item.key.domain) && item.generation == generation && instant > now()
          ? .success(item.outcome) : nil
      }
      return state.leasesAreObserved
    }
    effects.run()
    if isObserved { report(.leased(range)) }
    granted(domains, now())
  }

  func suspended(_ range: Range<UInt16>) {
    var effects = CoherenceEffects()
    let isObserved = state.withLock { state in
      let now = now()
      for domain in range where state.ends[Int(domain)].leaseEnd > now {
        state.ends[Int(domain)].leaseEnd = now
        domains.setLeaseEnd(domain, now)
      }
      effects.end(state.watches.within(range))
      return state.isObserved
    }
    effects.run()
    if isObserved { report(.suspended(range)) }
  }
}
