/// A record's keyspace and its incarnation: emptying a keyspace starts the next incarnation.
@frozen
public struct KeyspaceTag: RawRepresentable, Hashable, Sendable {
  /// The identifier in the low 32 bits, the incarnation in the high ones, as on disk.
  public let rawValue: UInt64

  /// Creates a tag from its on-disk representation.
  @inlinable
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The tag of an incarnation of a keyspace.
  @inlinable
  public init(id: UInt32, incarnation: UInt32 = 0) {
    rawValue = UInt64(id) | UInt64(incarnation) << 32
  }

  /// The default keyspace in its first incarnation, which records leave out.
  @inlinable
  public static var `default`: KeyspaceTag { KeyspaceTag(rawValue: 0) }

  /// The keyspace's identifier.
  @inlinable
  public var id: UInt32 { UInt32(truncatingIfNeeded: rawValue) }

  /// The incarnation of a keyspace that was removed: it is above every other.
  @inlinable
  public static var removal: UInt32 { 1 << 31 }

  /// Whether the keyspace was removed.
  @inlinable
  public var isRemoved: Bool { incarnation >= Self.removal }

  /// How often the keyspace has been emptied.
  @inlinable
  public var incarnation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
}
