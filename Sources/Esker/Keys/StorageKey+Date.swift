public import Foundation

extension Date: StorageKey {
  /// The bytes as one number.
  public typealias Held = UInt64

  /// The date's own number, 8 bytes in the order of the instants; no fraction of a second is lost.
  public static var keyTransformer: KeyTransformer<Date> {
    Double.keyTransformer.map(
      id: "date",
      to: { Date(timeIntervalSinceReferenceDate: $0) },
      from: { $0.timeIntervalSinceReferenceDate }
    )
  }

  /// The bytes as one number.
  public func held(by keys: KeyTransformer<Date>) -> UInt64 { timeIntervalSinceReferenceDate.ordered }

  /// The bytes as one number; nil if no date has them.
  public static func held(from bytes: RawSpan) -> UInt64? { Double.held(from: bytes) }

  /// The date that the number stands for.
  public static func key(of held: UInt64, by keys: KeyTransformer<Date>) throws -> Date {
    Date(timeIntervalSinceReferenceDate: try Double.number(ordered: held))
  }
}
