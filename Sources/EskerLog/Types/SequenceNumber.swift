/// The position of a write in the history of a store.
///
/// Every write gets the next number, so numbers order all writes of a store, and a value's number changes exactly when
/// the value is written again: it is the version that ``ByteStore/compareAndSet(_:forKey:ifVersion:expiry:durability:)``
/// compares. Numbers are never reused; after a crash some may be skipped.
public struct SequenceNumber: Comparable, Hashable, Sendable {
  /// The number itself; the first write of a store is 1.
  public let rawValue: UInt64

  /// Creates a sequence number known from elsewhere, such as a log file or another process.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Whether the first write came before the second.
  public static func < (left: SequenceNumber, right: SequenceNumber) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension SequenceNumber: CustomStringConvertible {
  /// The number, prefixed with `#`.
  public var description: String { "#\(rawValue)" }
}
