/// What memory holds of a key: a value or that it is absent, and what its trust rests on.
@usableFromInline
struct HeldCopy<Value: Sendable>: Sendable {
  @usableFromInline var value: Value?
  @usableFromInline var version: RemoteVersion?
  /// Milliseconds since 1970 by the server's clock; 0 for never.
  @usableFromInline var expiry: UInt64
  /// When it expires, by the clock of this process and a little early.
  @usableFromInline var freshEnd: RemoteInstant
  /// When it was last found current.
  @usableFromInline var verifiedAt: RemoteInstant
  /// When a change was told; nil if none was.
  @usableFromInline var changedAt: RemoteInstant?
  /// In which generation it is trusted; 0 for none, once a change was told.
  @usableFromInline var generation: UInt32
  @usableFromInline var domain: UInt16

  init(
    value: Value?,
    version: RemoteVersion?,
    expiry: UInt64,
    freshEnd: RemoteInstant,
    verifiedAt: RemoteInstant,
    generation: UInt32,
    domain: UInt16
  ) {
    self.value = value
    self.version = version
    self.expiry = expiry
    self.freshEnd = freshEnd
    self.verifiedAt = verifiedAt
    self.generation = generation
    self.domain = domain
  }
}
