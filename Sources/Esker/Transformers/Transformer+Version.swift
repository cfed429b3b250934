extension Transformer {
  /// This form under a version, so that a later form of the type can still read what this one wrote.
  ///
  /// Six bytes precede the value: `E5 6B 72 76`, which begins no text, JSON, CBOR or property list, and the version, least
  /// significant byte first. When the type changes, raise the version and read the old forms in `migrate`:
  ///
  /// ```swift
  /// let users = Transformer<User>.binary.versioned(2) { version, bytes in
  ///   guard version < 2 else { throw TransformerError.unknownVersion(version) }
  ///   return User(try Transformer<OldUser>.binary.decode(bytes))
  /// }
  /// ```
  ///
  /// Values written before the transformer had a version count as version 0. What a migration returns is written in the new
  /// form when it is stored the next time; reading alone changes nothing.
  ///
  /// - Parameters:
  ///   - version: the version of this form, 1 or more.
  ///   - migrate: reads a value of another version; without it such a value is refused.
  public func versioned(
    _ version: UInt16,
    migrate: @escaping @Sendable (UInt16, RawSpan) throws -> Value = { version, _ in
      throw TransformerError.unknownVersion(version)
    }
  ) -> Transformer {
    let mark: [UInt8] = [0xE5, 0x6B, 0x72, 0x76]
    let head = mark + [UInt8(truncatingIfNeeded: version), UInt8(truncatingIfNeeded: version >> 8)]
    return Transformer(
      id: "\(id)@\(version)",
      encode: { value in
        var bytes = head
        try lending(value) { bytes.append($0) }
        return bytes
      },
      decode: { bytes in
        func migrated(_ found: UInt16, _ content: RawSpan) throws -> Value {
          do { return try migrate(found, content) } catch TransformerError.unknownVersion(let found, known: nil) {
            throw TransformerError.unknownVersion(found, known: version)
          }
        }
        guard bytes.byteCount >= 6, bytes.starts(with: mark) else { return try migrated(0, bytes) }
        let found = UInt16(littleEndian: try bytes.extracting(4..<6).load(as: UInt16.self))
        let content = bytes.extracting(droppingFirst: 6)
        return found == version ? try decoding(content) : try migrated(found, content)
      }
    )
  }
}
