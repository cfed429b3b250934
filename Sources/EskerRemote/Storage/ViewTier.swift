public import Esker
public import EskerMemory

/// The memory of a view, as the core tells it: closures that are made where the types are known, so that what is done for each change that
/// is told is compiled for them.
@usableFromInline
final class ViewTier: NearTier {
  private let distrusting: @Sendable (RawSpan, RemoteVersion?, RemoteInstant) -> Void
  private let trusting: @Sendable (RawSpan, RemoteVersion, UInt32, RemoteInstant) -> Void
  private let forgetting: @Sendable (RawSpan) -> Void
  private let doubting: @Sendable (RawSpan, RemoteVersion?) -> Void

  @usableFromInline
  init(
    distrust: @escaping @Sendable (RawSpan, RemoteVersion?, RemoteInstant) -> Void,
    trust: @escaping @Sendable (RawSpan, RemoteVersion, UInt32, RemoteInstant) -> Void,
    forget: @escaping @Sendable (RawSpan) -> Void,
    doubt: @escaping @Sendable (RawSpan, RemoteVersion?) -> Void
  ) {
    distrusting = distrust
    trusting = trust
    forgetting = forget
    doubting = doubt
  }

  func distrust(_ key: RawSpan, unless version: RemoteVersion?, at now: RemoteInstant) {
    distrusting(key, version, now)
  }

  func trust(_ key: RawSpan, _ version: RemoteVersion, in generation: UInt32, at now: RemoteInstant) {
    trusting(key, version, generation, now)
  }

  func forget(_ key: RawSpan) { forgetting(key) }

  func doubt(_ key: RawSpan, unless version: RemoteVersion?) { doubting(key, version) }
}

extension ViewTier {
  @inlinable
  convenience init<Key, Value>(_ view: RemoteView<Key, Value>) {
    self.init(
      distrust: { view.distrust($0, unless: $1, at: $2) },
      trust: { view.trust($0, $1, in: $2, at: $3) },
      forget: { view.forget($0) },
      doubt: { view.doubt($0, unless: $1) }
    )
  }
}

// Under the lock of the core.
extension RemoteView {
  @inlinable
  func distrust(_ key: RawSpan, unless version: RemoteVersion?, at now: RemoteInstant) {
    guard let held = held(of: key) else { return }
    cache.update(held, now: .min) { entry in
      guard let copy = entry?.value, copy.generation != 0 || copy.changedAt == nil else { return }
      if let version, copy.version == version { return }
      entry?.value.changedAt = endOfTrust(before: copy, at: now)
      entry?.value.generation = 0
    }
  }

  @inlinable
  func trust(_ key: RawSpan, _ version: RemoteVersion, in generation: UInt32, at now: RemoteInstant) {
    guard let held = held(of: key) else { return }
    cache.update(held, now: .min) { entry in
      guard entry?.value.version == version else { return }
      entry?.value.generation = generation
      entry?.value.verifiedAt = now
      entry?.value.changedAt = nil
      entry?.value.isDoubtful = false
    }
  }

  @usableFromInline
  func forget(_ key: RawSpan) {
    guard let held = held(of: key) else { return }
    if isOfTags { noteChange(of: held) } else { cache.remove(held) }
    log?.keep(nil, forKey: [UInt8](copying: key.extracting(scope.count..<key.byteCount)))
  }

  @usableFromInline
  func doubt(_ key: RawSpan, unless version: RemoteVersion?) {
    guard let held = held(of: key) else { return }
    if isOfTags, version == nil { return noteChange(of: held) }
    cache.update(held, now: .min) { entry in
      if let version, entry?.value.version == version { return }
      entry?.value.isDoubtful = true
    }
  }

  /// That a tag has changed must be known, also of one that was not known before: else stale values of it would be served.
  private func noteChange(of tag: Key.Held) {
    let now = core.now()
    var copy = HeldCopy<Value>(
      content: .absent,
      version: nil,
      expiry: 0,
      freshEnd: now,
      verifiedAt: now,
      generation: 0,
      domain: 0
    )
    copy.changedAt = now
    cache.put(copy, forKey: tag, now: now.milliseconds)
  }

  /// When the trust in a copy ends of which a change is reported now; under the lock of the core.
  @inlinable
  func endOfTrust(before copy: HeldCopy<Value>, at now: RemoteInstant) -> RemoteInstant {
    domains.isTrusted(copy.domain, copy.generation, at: now) ? now : copy.verifiedAt
  }

  /// The key of which these are the bytes, if it is one of this storage's.
  @inlinable
  func held(of key: RawSpan) -> Key.Held? {
    guard key.byteCount >= scope.count, scope.hasBytes(key.extracting(0..<scope.count)) else { return nil }
    return Key.held(from: key.extracting(scope.count..<key.byteCount))
  }
}
