/// What an update does with the value it saw.
public struct Update: Sendable {
  enum Action: Sendable {
    case keep
    case put([UInt8], Expiry?)
    case remove
  }

  let action: Action

  /// Changes nothing.
  public static let keep = Update(action: .keep)

  /// Removes the key.
  public static let remove = Update(action: .remove)

  /// Stores `value`. Without an expiry, the keyspace's or the store's default applies.
  public static func put(_ value: [UInt8], expiry: Expiry? = nil) -> Update {
    Update(action: .put(value, expiry))
  }
}

/// What is known of a value without reading it.
public struct ValueMetadata: Sendable, Hashable {
  /// The value's length in bytes.
  public var length: Int
  /// The write that stored it.
  public var version: SequenceNumber
  /// When it goes; `.never` or `.at`.
  public var expiry: Expiry

  @inlinable
  init(length: Int, version: SequenceNumber, expiry: Expiry) {
    self.length = length
    self.version = version
    self.expiry = expiry
  }
}

/// When a write takes effect.
@usableFromInline
enum WriteCondition {
  case always
  /// Only if the key's visible version is this one; nil: only if it is absent or expired.
  case version(SequenceNumber?)

  var isAlways: Bool { if case .always = self { true } else { false } }
}

/// What a removal did.
@usableFromInline
struct Removal {
  /// The removal's own number; 0 when nothing was written.
  @usableFromInline var sequence: UInt64
  @usableFromInline var wasVisible: Bool
}
