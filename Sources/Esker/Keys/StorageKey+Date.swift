public import Foundation

extension Date: StorageKey {
  /// The bytes as one number.
  public typealias Held = UInt64

  /// The date's own number, 8 bytes in the order of the instants; no fraction of a second is lost.
  public static var keyTransformer: KeyTransformer<Date> {
    KeyTransformer(
      id: "date",
      lend: { key, body in lendBytes(of: key.ordered.bigEndian, to: body) },
      decode: { bytes in try Date(ordered: UInt64(bigEndian: try bytes.load(as: UInt64.self))) }
    )
  }

  /// The bytes as one number.
  public func held(by keys: KeyTransformer<Date>) -> UInt64 { ordered }

  /// The bytes as one number; nil if no date has them.
  public static func held(from bytes: RawSpan) -> UInt64? {
    guard let number = try? UInt64(bigEndian: bytes.load(as: UInt64.self)) else { return nil }
    return (try? Date(ordered: number)) == nil ? nil : number
  }

  /// The date that the number stands for.
  public static func key(of held: UInt64, by keys: KeyTransformer<Date>) throws -> Date { try Date(ordered: held) }

  /// The seconds since 2001 as IEEE 754, turned so that unsigned numbers compare as the instants do: the sign bit is inverted, and all
  /// other bits too where it was set.
  private var ordered: UInt64 {
    var seconds = timeIntervalSinceReferenceDate
    // Each is one key: zero, which has two signs, and what is not a number, which has many forms. That comes last. It is not refused,
    // since Foundation cannot show it in an error: its description ends the program.
    if seconds == 0 { seconds = 0 }
    if seconds.isNaN { seconds = .nan }
    return seconds.bitPattern ^ (seconds.sign == .minus ? .max : 1 << 63)
  }

  /// The date that becomes that number.
  private init(ordered number: UInt64) throws {
    let bits = number ^ (number >> 63 == 0 ? .max : 1 << 63)
    self.init(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
    if ordered != number { throw TransformerError.malformed("no date has these bytes") }
  }
}
