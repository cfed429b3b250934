extension Transformer where Value: FixedWidthInteger & BitwiseCopyable {
  /// An integer in its own width, least significant byte first.
  @inlinable
  public static var littleEndian: Transformer {
    Transformer(
      id: "\(Value.isSigned ? "int" : "uint")\(Value.bitWidth)",
      lend: { value, body in lendBytes(of: value.littleEndian, to: body) },
      decode: { bytes in Value(littleEndian: try bytes.load(as: Value.self)) }
    )
  }
}

extension Transformer where Value == Double {
  /// The 8 bytes of IEEE 754, least significant first. Every value comes back bit for bit, NaN included.
  @inlinable
  public static var littleEndian: Transformer {
    Transformer<UInt64>.littleEndian.map(
      id: "float64",
      to: { Double(bitPattern: $0) },
      from: { $0.bitPattern }
    )
  }
}

extension Transformer where Value == Float {
  /// The 4 bytes of IEEE 754, least significant first. Every value comes back bit for bit, NaN included.
  @inlinable
  public static var littleEndian: Transformer {
    Transformer<UInt32>.littleEndian.map(
      id: "float32",
      to: { Float(bitPattern: $0) },
      from: { $0.bitPattern }
    )
  }
}

extension Transformer where Value == Bool {
  /// One byte: 0 or 1. Any other is refused.
  @inlinable
  public static var byte: Transformer {
    Transformer(
      id: "bool",
      lend: { value, body in lendBytes(of: UInt8(value ? 1 : 0), to: body) },
      decode: { bytes in
        switch try bytes.load(as: UInt8.self) {
        case 0: return false
        case 1: return true
        case let byte: throw TransformerError.malformed("the byte \(byte) is neither 0 nor 1")
        }
      }
    )
  }
}
