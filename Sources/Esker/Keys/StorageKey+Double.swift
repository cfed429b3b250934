extension Double: StorageKey {
  /// The bytes as one number.
  public typealias Held = UInt64

  /// 8 bytes in the order of the numbers, from minus to plus infinity. What is not a number comes last, and is one key.
  public static var keyTransformer: KeyTransformer<Double> {
    KeyTransformer(
      id: "float64",
      lend: { key, body in lendBytes(of: key.ordered.bigEndian, to: body) },
      decode: { bytes in try number(ordered: UInt64(bigEndian: try bytes.load(as: UInt64.self))) }
    )
  }

  /// The bytes as one number.
  public func held(by keys: KeyTransformer<Double>) -> UInt64 { ordered }

  /// The bytes as one number; nil if no `Double` has them.
  public static func held(from bytes: RawSpan) -> UInt64? {
    (try? keyTransformer.decode(bytes))?.ordered
  }

  /// The key that the number stands for.
  public static func key(of held: UInt64, by keys: KeyTransformer<Double>) throws -> Double {
    try number(ordered: held)
  }

  /// The one that becomes that number.
  static func number(ordered number: UInt64) throws -> Double {
    let key = Double(bitPattern: number ^ (number >> 63 == 0 ? .max : 1 << 63))
    if key.ordered != number { throw TransformerError.malformed("no Double has these bytes") }
    return key
  }

  /// IEEE 754, turned so that unsigned numbers compare as these do: the sign bit is inverted, and all other bits too where it was set.
  var ordered: UInt64 {
    var number = self
    // Each is one key: zero, which has two signs, and what is not a number, which has many forms. That comes last. It is not refused,
    // since Foundation cannot show such a date in an error: its description ends the program.
    if number == 0 { number = 0 }
    if number.isNaN { number = .nan }
    return number.bitPattern ^ (number.sign == .minus ? .max : 1 << 63)
  }
}
