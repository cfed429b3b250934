import Esker
import Foundation

// Text for the command line, and back.

extension StoredForm {
  /// The bytes as text of this form; nil if they do not have it.
  ///
  /// - Parameter isMarked: Whether CBOR marks what JSON has no type for, so that it can be read back; see ``CBORText``.
  func text(of bytes: [UInt8], isMarked: Bool = false) -> String? {
    if let text = plainText(of: bytes, isMarked) { return text }
    guard let rest = withoutVersion(bytes) else { return nil }
    return plainText(of: rest, isMarked)
  }

  /// The text from which ``bytes(of:)`` makes exactly these bytes; nil if there is none.
  func exactText(of bytes: [UInt8]) -> String? {
    guard let text = text(of: bytes, isMarked: true), self.bytes(of: text) == bytes else { return nil }
    return text
  }

  /// The same, also if a version is in front of what the text makes.
  ///
  /// - Parameter version: Is set to that version if there is one.
  func exactText(of bytes: [UInt8], version: inout UInt16?) -> String? {
    if let text = exactText(of: bytes) { return text }
    guard let found = Self.version(of: bytes), let text = exactText(of: Array(bytes.dropFirst(6))) else { return nil }
    version = found
    return text
  }

  private func plainText(of bytes: [UInt8], _ isMarked: Bool) -> String? {
    switch self {
    case .raw, .text: return String(validating: bytes, as: UTF8.self)
    case .json:
      return JSONCursor.isDocument(ContiguousArray(bytes).span) ? String(validating: bytes, as: UTF8.self) : nil
    case .integer(let length, let isSigned, let place):
      guard bytes.count == length else { return nil }
      let pattern = pattern(of: bytes, mostSignificantFirst: place == .keys)
      guard isSigned else { return "\(pattern)" }
      let turned = place == .keys ? pattern ^ signBit(length) : pattern
      let shift = 128 - 8 * length
      return "\((Int128(bitPattern: turned) << shift) >> shift)"
    case .float(_, .keys): return (try? Double.keyTransformer.decode(bytes)).map { "\($0)" }
    case .float(bytes: 4, .values):
      return bytes.count == 4 ? "\(Float(bitPattern: UInt32(pattern(of: bytes))))" : nil
    case .float(_, .values):
      return bytes.count == 8 ? "\(Double(bitPattern: UInt64(pattern(of: bytes))))" : nil
    case .bool:
      return bytes == [0] ? "false" : bytes == [1] ? "true" : nil
    case .date(.keys): return (try? Date.keyTransformer.decode(bytes)).map { instant(of: $0) }
    case .date(.values):
      guard bytes.count == 8 else { return nil }
      return instant(of: Date(timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(pattern(of: bytes)))))
    case .uuid: return (try? UUID.keyTransformer.decode(bytes))?.uuidString
    case .cbor: return CBORText.json(of: bytes, isMarked: isMarked)
    case .composite(let forms): return CompositeText.text(of: bytes, forms)
    case .transformed(let form, let steps):
      var inner = bytes
      for step in steps.reversed() {
        guard let back = try? step.transformer.decode(inner) else { return nil }
        inner = back
      }
      return form.text(of: inner, isMarked: isMarked)
    }
  }

  /// The bytes that `text` stands for; nil if it is not of this form.
  func bytes(of text: String) -> [UInt8]? {
    switch self {
    case .raw, .text: return Array(text.utf8)
    case .integer(let length, let isSigned, let place):
      guard let pattern = isSigned ? signedPattern(text, length, place) : unsignedPattern(text, length) else {
        return nil
      }
      return littleEndian(pattern, length, isReversed: place == .keys)
    case .float(_, .keys): return Double(text).flatMap { try? Double.keyTransformer.encode($0) }
    case .float(bytes: 4, .values): return Float(text).map { littleEndian(UInt128($0.bitPattern), 4) }
    case .float(_, .values): return Double(text).map { littleEndian(UInt128($0.bitPattern), 8) }
    case .bool: return text == "true" ? [1] : text == "false" ? [0] : nil
    case .date(.keys): return parseInstant(text).flatMap { try? Date.keyTransformer.encode($0) }
    case .date(.values):
      return parseInstant(text).map { littleEndian(UInt128($0.timeIntervalSinceReferenceDate.bitPattern), 8) }
    case .uuid: return UUID(uuidString: text).flatMap { try? UUID.keyTransformer.encode($0) }
    case .json: return JSONCursor.isDocument(ContiguousArray(text.utf8).span) ? Array(text.utf8) : nil
    case .cbor: return CBORFromJSON.bytes(of: ContiguousArray(text.utf8).span)
    case .composite(let forms): return CompositeText.bytes(of: text, forms)
    case .transformed(let form, let steps):
      return steps.reduce(form.bytes(of: text)) { bytes, step in bytes.flatMap { try? step.transformer.encode($0) } }
    }
  }

  /// What follows the mark of a version, which values of any form may have; nil without one.
  private func withoutVersion(_ bytes: [UInt8]) -> [UInt8]? {
    self == .raw ? nil : Self.version(of: bytes).map { _ in Array(bytes.dropFirst(6)) }
  }

  /// The version that a value begins with; nil if there is none.
  static func version(of bytes: [UInt8]) -> UInt16? {
    guard bytes.count >= 6, bytes.starts(with: [0xE5, 0x6B, 0x72, 0x76]) else { return nil }
    return UInt16(bytes[4]) | UInt16(bytes[5]) << 8
  }

  /// The bytes with which a value of a version begins.
  static func mark(ofVersion version: UInt16) -> [UInt8] {
    [0xE5, 0x6B, 0x72, 0x76, UInt8(truncatingIfNeeded: version), UInt8(truncatingIfNeeded: version >> 8)]
  }
}

extension StoredForm.ByteStep {
  var transformer: Transformer<[UInt8]> {
    switch self {
    case .lz4: Transformer<[UInt8]>.bytes.then(.lz4)
    case .checksum: Transformer<[UInt8]>.bytes.then(.checksum)
    }
  }
}

/// The instant that ``instant(of:)`` wrote; nil for anything else.
func parseInstant(_ text: String) -> Date? {
  if let seconds = Double(text) { return Date(timeIntervalSinceReferenceDate: seconds) }
  return parseTimestamp(ContiguousArray(text.utf8).span)?.date
}

/// ISO 8601 if that says all of an instant; otherwise the seconds since 2001, which do.
func instant(of date: Date) -> String {
  let seconds = date.timeIntervalSinceReferenceDate
  let milliseconds = (seconds * 1000).rounded()
  guard abs(milliseconds) < 1e15 else { return "\(seconds)" }
  let time = WallTime(millisecondsSince1970: Int64(milliseconds) + 978_307_200_000)
  return time.date == date ? time.description : "\(seconds)"
}

/// The sign bit of an integer of so many bytes, which keys have turned over.
private func signBit(_ length: Int) -> UInt128 { 1 << UInt128(8 * length - 1) }

private func signedPattern(_ text: String, _ length: Int, _ place: StoredForm.Place) -> UInt128? {
  let shift = 128 - 8 * length
  guard let number = Int128(text), (number << shift) >> shift == number else { return nil }
  return UInt128(bitPattern: number) ^ (place == .keys ? signBit(length) : 0)
}

private func unsignedPattern(_ text: String, _ length: Int) -> UInt128? {
  let shift = 128 - 8 * length
  guard let number = UInt128(text), (number << shift) >> shift == number else { return nil }
  return number
}

/// Up to 16 bytes as a number.
private func pattern(of bytes: [UInt8], mostSignificantFirst: Bool = false) -> UInt128 {
  (mostSignificantFirst ? bytes : bytes.reversed()).reduce(0) { $0 << 8 | UInt128($1) }
}

private func littleEndian(_ pattern: UInt128, _ length: Int, isReversed: Bool = false) -> [UInt8] {
  let bytes = (0..<length).map { UInt8(truncatingIfNeeded: pattern >> UInt128(8 * $0)) }
  return isReversed ? bytes.reversed() : bytes
}
