extension KeyTransformer where Key: FixedWidthInteger & BitwiseCopyable {
  /// An integer in its own width, most significant byte first and the sign bit inverted, so that keys as bytes have the
  /// order of the numbers.
  @inlinable
  public static var ordered: KeyTransformer {
    // The bit that is 1 in the smallest signed number; 0 for an unsigned type.
    let sign: Key = Key.min
    return KeyTransformer(
      id: "\(Key.isSigned ? "int" : "uint")\(Key.bitWidth)",
      lend: { key, body in lendBytes(of: (key ^ sign).bigEndian, to: body) },
      decode: { bytes in Key(bigEndian: try bytes.load(as: Key.self)) ^ sign }
    )
  }
}

extension Int: StorageKey {
  /// Itself.
  public typealias Held = Int

  /// 8 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<Int> { .ordered }
}

extension Int8: StorageKey {
  /// Itself.
  public typealias Held = Int8

  /// One byte in the order of the numbers.
  public static var keyTransformer: KeyTransformer<Int8> { .ordered }
}

extension Int16: StorageKey {
  /// Itself.
  public typealias Held = Int16

  /// 2 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<Int16> { .ordered }
}

extension Int32: StorageKey {
  /// Itself.
  public typealias Held = Int32

  /// 4 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<Int32> { .ordered }
}

extension Int64: StorageKey {
  /// Itself.
  public typealias Held = Int64

  /// 8 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<Int64> { .ordered }
}

extension UInt: StorageKey {
  /// Itself.
  public typealias Held = UInt

  /// 8 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<UInt> { .ordered }
}

extension UInt8: StorageKey {
  /// Itself.
  public typealias Held = UInt8

  /// One byte.
  public static var keyTransformer: KeyTransformer<UInt8> { .ordered }
}

extension UInt16: StorageKey {
  /// Itself.
  public typealias Held = UInt16

  /// 2 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<UInt16> { .ordered }
}

extension UInt32: StorageKey {
  /// Itself.
  public typealias Held = UInt32

  /// 4 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<UInt32> { .ordered }
}

extension UInt64: StorageKey {
  /// Itself.
  public typealias Held = UInt64

  /// 8 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<UInt64> { .ordered }
}

extension Int128: StorageKey {
  /// Itself.
  public typealias Held = Int128

  /// 16 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<Int128> { .ordered }
}

extension UInt128: StorageKey {
  /// Itself.
  public typealias Held = UInt128

  /// 16 bytes in the order of the numbers.
  public static var keyTransformer: KeyTransformer<UInt128> { .ordered }
}
