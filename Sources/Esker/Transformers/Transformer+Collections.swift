/// Reads a list of runs of bytes, each with its length before it.
struct RunReader {
  private var position = 0

  func isAtEnd(of bytes: RawSpan) -> Bool { position == bytes.byteCount }

  /// Calls `body` with the next run.
  mutating func next<R>(in bytes: RawSpan, _ body: (RawSpan) throws -> R) throws -> R {
    let rest = bytes.extracting(droppingFirst: position)
    guard rest.byteCount >= 4 else { throw TransformerError.malformed("the list ends within a length") }
    let length = Int(UInt32(littleEndian: try rest.extracting(first: 4).load(as: UInt32.self)))
    guard length <= rest.byteCount - 4 else { throw TransformerError.malformed("the list ends within an element") }
    position += 4 + length
    let run = rest.extracting(4..<4 + length)
    return try body(run)
  }
}

extension [UInt8] {
  /// Adds a run of bytes with its length, 4 bytes, least significant first, before it.
  mutating func append<Value>(run value: Value, _ transformer: Transformer<Value>) throws {
    let start = count
    append(contentsOf: [0, 0, 0, 0])
    try transformer.lending(value) { append($0) }
    guard let length = UInt32(exactly: count - start - 4) else {
      throw TransformerError.malformed("an element has \(count - start - 4) bytes")
    }
    for position in 0..<4 { self[start + position] = UInt8(truncatingIfNeeded: length >> (8 * position)) }
  }
}

extension Transformer {
  /// A value that may be missing: a byte 0, or a byte 1 and the value.
  public static func optional<Wrapped>(_ transformer: Transformer<Wrapped>) -> Transformer
  where Value == Wrapped? {
    Transformer(
      id: "optional(\(transformer.id))",
      encode: { value in
        guard let value else { return [0] as [UInt8] }
        var bytes: [UInt8] = [1]
        try transformer.lending(value) { bytes.append($0) }
        return bytes
      },
      decode: { bytes in
        guard !bytes.isEmpty else { throw TransformerError.wrongLength(expected: 1, found: 0) }
        let rest = bytes.extracting(droppingFirst: 1)
        switch try bytes.extracting(first: 1).load(as: UInt8.self) {
        case 0:
          guard rest.isEmpty else { throw TransformerError.wrongLength(expected: 1, found: bytes.byteCount) }
          return nil
        case 1: return try transformer.decoding(rest)
        case let byte: throw TransformerError.malformed("the byte \(byte) is neither 0 nor 1")
        }
      }
    )
  }

  /// A list of values: each with its length, 4 bytes, before it.
  public static func array<Element>(_ transformer: Transformer<Element>) -> Transformer where Value == [Element] {
    Transformer(
      id: "array(\(transformer.id))",
      encode: { values in
        var bytes: [UInt8] = []
        for value in values { try bytes.append(run: value, transformer) }
        return bytes
      },
      decode: { bytes in
        var values: [Element] = []
        var reader = RunReader()
        while !reader.isAtEnd(of: bytes) { values.append(try reader.next(in: bytes) { try transformer.decoding($0) }) }
        return values
      }
    )
  }

  /// A set of values, kept as a list in no order.
  public static func set<Element>(_ transformer: Transformer<Element>) -> Transformer where Value == Set<Element> {
    Transformer<[Element]>.array(transformer).map(
      id: "set(\(transformer.id))",
      to: { Set($0) },
      from: { Array($0) }
    )
  }

  /// Named values: names and values in turn, each with its length before it, in no order.
  public static func dictionary<Name, Element>(
    _ names: Transformer<Name>,
    _ values: Transformer<Element>
  ) -> Transformer where Value == [Name: Element] {
    Transformer(
      id: "dictionary(\(names.id),\(values.id))",
      encode: { dictionary in
        var bytes: [UInt8] = []
        for (name, value) in dictionary {
          try bytes.append(run: name, names)
          try bytes.append(run: value, values)
        }
        return bytes
      },
      decode: { bytes in
        var dictionary: [Name: Element] = [:]
        var reader = RunReader()
        while !reader.isAtEnd(of: bytes) {
          let name = try reader.next(in: bytes) { try names.decoding($0) }
          dictionary[name] = try reader.next(in: bytes) { try values.decoding($0) }
        }
        return dictionary
      }
    )
  }
}
