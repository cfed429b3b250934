/// What an update does with the value that it was passed.
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

  /// Stores `value`. Without an expiry, the default of the keyspace or the store applies.
  public static func put(_ value: [UInt8], expiry: Expiry? = nil) -> Update {
    Update(action: .put(value, expiry))
  }
}

/// What is known about a value without reading it.
public struct ValueMetadata: Sendable, Hashable {
  /// The value's length in bytes.
  public var length: Int
  /// The write that stored it.
  public var version: SequenceNumber
  /// When the value expires; `.never` or `.at`.
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
  /// Only if the key's visible version is this one; nil means only if the key is absent or expired.
  case version(SequenceNumber?)

  var isAlways: Bool { if case .always = self { true } else { false } }
  /// Whether it may hold for a key that is absent.
  var allowsAbsence: Bool { if case .version(.some) = self { false } else { true } }
}

@usableFromInline
struct RemovalResult {
  /// The number of the removal itself. If nothing was written: 0 if the condition did not hold, else that of the last write, as one up to
  /// it has removed the key.
  @usableFromInline var sequence: UInt64
  @usableFromInline var wasVisible: Bool
}
