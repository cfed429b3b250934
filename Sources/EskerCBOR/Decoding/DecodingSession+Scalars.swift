// Each function reads the item at an offset and sets `next` to the offset after it. Tags irrelevant to the type are skipped,
// and numbers may be in any form that preserves their value: other writers have fewer types.

extension DecodingSession {
  func isNull(at offset: Int) throws -> Bool {
    let head: ItemReader.Head
    do { head = try reader.head(at: offset) } catch { throw decodingError(error) }
    next = head.end
    return head.isNull
  }

  @inline(__always)
  func bool(at offset: Int) throws -> Bool {
    if offset < reader.count {
      let byte = reader.byte(offset)
      if byte & 0xfe == InitialByte.no {
        next = offset + 1
        return byte == InitialByte.yes
      }
    }
    return try taggedBool(at: offset)
  }

  @inline(never)
  private func taggedBool(at offset: Int) throws -> Bool {
    let head = try head(at: offset)
    guard head.initial & 0xfe == InitialByte.no else { throw mismatch(Bool.self, at: offset) }
    next = head.end
    return head.initial == InitialByte.yes
  }

  @inline(__always)
  func integer<I: FixedWidthInteger>(_ type: I.Type, at offset: Int) throws -> I {
    if offset < reader.count {
      let byte = reader.byte(offset)
      if byte < 24 {
        next = offset + 1
        return I(truncatingIfNeeded: byte)
      }
    }
    return try longInteger(type, at: offset)
  }

  @inline(never)
  private func longInteger<I: FixedWidthInteger>(_ type: I.Type, at offset: Int) throws -> I {
    let head = try head(at: offset)
    if head.major == MajorType.unsigned, let value = I(exactly: head.argument) {
      next = head.end
      return value
    }
    let value = try wideInteger(type, at: offset)
    guard let narrow = I(exactly: value) else {
      throw corrupted(at: offset, "The number \(value) does not fit in \(type).")
    }
    return narrow
  }

  /// An integer of any type but `UInt128`, to be narrowed by the caller.
  @inline(never)
  private func wideInteger(_ type: any Any.Type, at offset: Int) throws -> Int128 {
    let head = try head(at: offset)
    switch head.major {
    case MajorType.unsigned:
      next = head.end
      return Int128(head.argument)
    case MajorType.negative:
      next = head.end
      return ~Int128(head.argument)
    default:
      if let (negative, magnitude) = try bignum(at: offset) {
        guard let value = Int128(exactly: magnitude) else {
          throw corrupted(at: offset, "The number does not fit in \(type).")
        }
        return negative ? ~value : value
      }
      guard head.isFloat else { throw mismatch(type, at: offset) }
      let number = try double(at: offset)
      guard let value = Int128(exactly: number) else {
        throw corrupted(at: offset, "The number \(number) does not fit in \(type).")
      }
      return value
    }
  }

  func integer(_ type: UInt128.Type, at offset: Int) throws -> UInt128 {
    if let (negative, magnitude) = try bignum(at: offset), !negative { return magnitude }
    return try integer(at: offset)
  }

  private func integer(at offset: Int) throws -> UInt128 {
    let value = try wideInteger(UInt128.self, at: offset)
    guard let magnitude = UInt128(exactly: value) else {
      throw corrupted(at: offset, "The number \(value) does not fit in UInt128.")
    }
    return magnitude
  }

  /// A bignum's magnitude, or that of the complement if it is negative. Nil if the item is not a bignum.
  func bignum(at offset: Int) throws -> (negative: Bool, magnitude: UInt128)? {
    var position = offset
    var head: ItemReader.Head
    do {
      head = try reader.head(at: position)
      while head.major == MajorType.tag {
        let tag = head.argument
        position = head.end
        head = try reader.head(at: position)
        guard tag == CBORTag.bignum || tag == CBORTag.negativeBignum, head.major == MajorType.bytes else { continue }
        let (bytes, end) = try reader.bytes(head)
        let digits = bytes.drop { $0 == 0 }
        guard digits.count <= 16 else { throw corrupted(at: offset, "The number does not fit in 128 bits.") }
        next = end
        return (tag == CBORTag.negativeBignum, digits.reduce(0) { $0 << 8 | UInt128($1) })
      }
      return nil
    } catch {
      throw decodingError(error)
    }
  }

  @inline(__always)
  func double(at offset: Int) throws -> Double {
    if reader.count - offset > 8, reader.byte(offset) == InitialByte.double {
      next = offset + 9
      return Double(bitPattern: reader.load(UInt64.self, at: offset + 1))
    }
    return try shortDouble(at: offset)
  }

  @inline(never)
  private func shortDouble(at offset: Int) throws -> Double {
    let head = try head(at: offset)
    next = head.end
    switch head.initial {
    case InitialByte.half:
      return EskerCBOR.double(ofSingle: singleBits(ofHalf: UInt16(truncatingIfNeeded: head.argument)))
    case InitialByte.single:
      return EskerCBOR.double(ofSingle: UInt32(truncatingIfNeeded: head.argument))
    case InitialByte.double:
      return Double(bitPattern: head.argument)
    default:
      guard try head.isNumber || bignum(at: offset) != nil else {
        throw mismatch(Double.self, at: offset)
      }
      let number = try wideInteger(Double.self, at: offset)
      guard let double = Double(exactly: number) else {
        throw corrupted(at: offset, "The number \(number) does not fit in Double.")
      }
      return double
    }
  }

  func float(at offset: Int) throws -> Float {
    let head = try head(at: offset)
    switch head.initial {
    case InitialByte.half:
      next = head.end
      return Float(bitPattern: singleBits(ofHalf: UInt16(truncatingIfNeeded: head.argument)))
    case InitialByte.single:
      next = head.end
      return Float(bitPattern: UInt32(truncatingIfNeeded: head.argument))
    default:
      // A number that another writer stored in double precision is rounded; one out of range is rejected.
      let double = try double(at: offset)
      let float = Float(double)
      guard float.isFinite || !double.isFinite else {
        throw corrupted(at: offset, "The number \(double) does not fit in Float.")
      }
      return float
    }
  }

  @inline(__always)
  func text(at offset: Int) throws -> String {
    if offset < reader.count {
      var start = offset + 1
      var length = Int(reader.byte(offset) &- MajorType.text)
      if length == 24, start < reader.count {
        // The length has a byte of its own.
        length = Int(reader.byte(start))
        start += 1
      } else if length >= 24 {
        return try longText(at: offset)
      }
      let end = start + length
      if end <= reader.count {
        next = end
        if let text = reader.textIfValid(start, end) { return text }
      }
    }
    return try longText(at: offset)
  }

  @inline(never)
  private func longText(at offset: Int) throws -> String {
    let head = try head(at: offset)
    guard head.major == MajorType.text else { throw mismatch(String.self, at: offset) }
    do {
      let (text, end) = try reader.text(head)
      next = end
      return text
    } catch {
      throw decodingError(error)
    }
  }

  /// The bytes of a byte string, or nil if the item is not one.
  func bytes(at offset: Int) throws -> [UInt8]? {
    let head = try head(at: offset)
    guard head.major == MajorType.bytes else { return nil }
    do {
      let (bytes, end) = try reader.bytes(head)
      next = end
      return bytes
    } catch {
      throw decodingError(error)
    }
  }

  /// The head of the item at `offset`, after its tags.
  func head(at offset: Int) throws -> ItemReader.Head {
    do { return try reader.untaggedHead(at: offset) } catch { throw decodingError(error) }
  }

  /// The first of an item's tags that is `wanted`, or nil if none is, and the offset after the tags read.
  func firstTag(at offset: Int, where wanted: (UInt64) -> Bool) throws -> (tag: UInt64?, content: Int) {
    do {
      var position = offset
      while true {
        let head = try reader.head(at: position)
        guard head.major == MajorType.tag else { return (nil, position) }
        position = head.end
        if wanted(head.argument) { return (head.argument, position) }
      }
    } catch {
      throw decodingError(error)
    }
  }
}

extension ItemReader.Head {
  var isFloat: Bool { initial == InitialByte.half || initial == InitialByte.single || initial == InitialByte.double }
  var isNumber: Bool { major == MajorType.unsigned || major == MajorType.negative || isFloat }
}
