internal import Esker

// What is served in place of what cannot be read.
extension RemoteView {
  enum StaleCopy {
    case held(RemoteEntry<Value>)
    /// In the log, and not decoded yet.
    case near(RemoteValue, age: Duration)

    /// How long ago it was last known to be current.
    var age: Duration {
      switch self {
      case .held(let entry): entry.age
      case .near(_, let age): age
      }
    }
  }

  /// What may be served if the owner does not answer.
  func spare(_ copy: HeldCopy<Value>?, _ near: RemoteValue?, _ key: RemoteKey, at now: RemoteInstant) -> StaleCopy? {
    guard let limit = options.serveStale else { return nil }
    if let copy { return stale(copy, within: limit, at: now).map { .held($0) } }
    guard let near, let age = age(of: near, key, at: now), age <= limit else { return nil }
    return .near(near, age: age)
  }

  /// A spare as an entry; nil if what is in the log cannot be decoded.
  func entry(_ spare: StaleCopy, _ key: Key) -> RemoteEntry<Value>? {
    switch spare {
    case .held(let entry): return entry
    case .near(let near, let age):
      guard let value = try? decoded(near, key) else { return nil }
      var entry = remoteEntry(value, near, .log)
      entry.age = age
      entry.isStale = true
      return entry
    }
  }

  /// A copy as a stale entry, if it was current recently enough, and its tags are not known to have changed.
  func stale(_ copy: HeldCopy<Value>, within limit: Duration, at now: RemoteInstant) -> RemoteEntry<Value>? {
    guard var entry = self.entry(copy, isStale: true, at: now), let since = age(of: entry.tags, at: now) else {
      return nil
    }
    entry.age = max(entry.age, since)
    return entry.age <= limit ? entry : nil
  }

  /// How long ago a copy in the log was last known to be current; nil if its tags are known to have changed.
  ///
  /// What this process has not found to be current was so when it was written; what another process wrote into the log, no later than when
  /// that had its last lease.
  private func age(of near: RemoteValue, _ key: RemoteKey, at now: RemoteInstant) -> Duration? {
    guard let version = near.version, let since = age(of: near.tags, at: now) else { return nil }
    if let end = core.endOfTrust(key, version) { return max(since, now.duration(since: end)) }
    let end = log?.leases.endOfTrust(ofWrite: version.time) ?? version.time
    let present = tiers.milliseconds(key.domain)
    return max(since, .milliseconds(Int64(clamping: present > end ? present - end : 0)))
  }
}
