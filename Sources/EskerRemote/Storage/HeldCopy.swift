/// What memory holds of a key: a value or that it is absent, and what its trust rests on.
@usableFromInline
struct HeldCopy<Value: Sendable>: Sendable {
  @usableFromInline
  enum Content: Sendable {
    case absent
    case plain(Value)
    /// Current only if its tags are. In an object of its own, so that values without tags are not copied for more.
    case tagged(Tagged)
  }

  @usableFromInline
  final class Tagged: Sendable {
    @usableFromInline let value: Value
    let tags: [RemoteTag]

    init(_ value: Value, _ tags: [RemoteTag]) {
      self.value = value
      self.tags = tags
    }
  }

  @usableFromInline var content: Content
  @usableFromInline var version: RemoteVersion?
  /// Milliseconds since 1970 by the server's clock; 0 for never.
  @usableFromInline var expiry: UInt64
  /// When it expires, by the clock of this process and a little early.
  @usableFromInline var freshEnd: RemoteInstant
  /// When it was last found current.
  @usableFromInline var verifiedAt: RemoteInstant
  /// When a change was reported; nil if none was.
  @usableFromInline var changedAt: RemoteInstant?
  /// In which generation it is trusted; 0 for none, once a change was reported.
  @usableFromInline var generation: UInt32
  @usableFromInline var domain: UInt16
  /// Whether a write of this process may have replaced it, so that it is not even served as one that was current lately.
  @usableFromInline var isDoubtful = false

  init(
    content: Content,
    version: RemoteVersion?,
    expiry: UInt64,
    freshEnd: RemoteInstant,
    verifiedAt: RemoteInstant,
    changedAt: RemoteInstant? = nil,
    generation: UInt32,
    domain: UInt16
  ) {
    self.content = content
    self.version = version
    self.expiry = expiry
    self.freshEnd = freshEnd
    self.verifiedAt = verifiedAt
    self.changedAt = changedAt
    self.generation = generation
    self.domain = domain
  }

  /// The value; nil if the key is absent.
  var value: Value? {
    switch content {
    case .absent: nil
    case .plain(let value): value
    case .tagged(let tagged): tagged.value
    }
  }

  var tags: [RemoteTag] {
    if case .tagged(let tagged) = content { return tagged.tags }
    return []
  }
}

extension HeldCopy.Content {
  /// A value with its tags; nil says that the key is absent.
  init(_ value: Value?, tags: [RemoteTag]) {
    guard let value else { self = .absent; return }
    self = tags.isEmpty ? .plain(value) : .tagged(HeldCopy.Tagged(value, tags))
  }
}
