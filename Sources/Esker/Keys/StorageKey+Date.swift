public import Foundation

extension Date: StorageKey {
  /// The bytes as one number.
  public typealias Held = UInt64

  /// The date's own number, 8 bytes in the order of the instants; no fraction of a second is lost.
  public static var keyTransformer: KeyTransformer<Date> {
    KeyTransformer(
      id: "date",
      lend: { key, body in lendBytes(of: key.ordered.bigEndian, to: body) },
      decode: { bytes in try date(ordered: UInt64(bigEndian: try bytes.load(as: UInt64.self))) }
    )
  }

  /// The bytes as one number.
  public func held(by keys: KeyTransformer<Date>) -> UInt64 { ordered }

  /// The bytes as one number; nil if no date has them.
  public static func held(from bytes: RawSpan) -> UInt64? { Double.held(from: bytes) }

  /// The date that the number stands for.
  public static func key(of held: UInt64, by keys: KeyTransformer<Date>) throws -> Date { try date(ordered: held) }

  private static func date(ordered number: UInt64) throws -> Date {
    guard let seconds = Double(ordered: number) else { throw TransformerError.malformed("no date has these bytes") }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  private var ordered: UInt64 { timeIntervalSinceReferenceDate.ordered }
}
