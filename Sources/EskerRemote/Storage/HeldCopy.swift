/// What memory holds of a key: a value or that it is absent, and what its trust rests on.
struct HeldCopy<Value: Sendable>: Sendable {
  var value: Value?
  var version: RemoteVersion?
  /// Milliseconds since 1970 by the server's clock; 0 for never.
  var expiry: UInt64
  /// When it expires, by the clock of this process and a little early.
  var freshEnd: RemoteInstant
  /// When it was last found current.
  var verifiedAt: RemoteInstant
  /// When a change was told; nil if none was.
  var changedAt: RemoteInstant?
  /// In which generation it is trusted; 0 for none, once a change was told.
  var generation: UInt32
  var domain: UInt16
}
