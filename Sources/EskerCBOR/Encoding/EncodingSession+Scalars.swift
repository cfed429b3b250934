import Foundation

extension EncodingSession {
  @inline(__always)
  func write(_ value: Bool) {
    output.writeByte(value ? InitialByte.yes : InitialByte.no)
  }

  func writeNull() {
    output.writeByte(InitialByte.null)
  }

  @inline(__always)
  func write(_ value: Int64) {
    if value >= 0 {
      writeHead(MajorType.unsigned, UInt64(bitPattern: value))
    } else {
      writeHead(MajorType.negative, UInt64(bitPattern: ~value))
    }
  }

  @inline(__always)
  func write(_ value: UInt64) {
    writeHead(MajorType.unsigned, value)
  }

  func write(_ value: Int128) {
    if value >= 0 {
      write(UInt128(bitPattern: value))
    } else {
      writeNegative(below: UInt128(bitPattern: ~value))
    }
  }

  /// Writes -1 - `magnitude`.
  func writeNegative(below magnitude: UInt128) {
    write(magnitude, MajorType.negative, CBORTag.negativeBignum)
  }

  func write(_ value: UInt128) {
    write(value, MajorType.unsigned, CBORTag.bignum)
  }

  /// Writes an integer if it fits 64 bits, otherwise a bignum.
  private func write(_ magnitude: UInt128, _ major: UInt8, _ tag: UInt64) {
    if let argument = UInt64(exactly: magnitude) { return writeHead(major, argument) }
    writeHead(MajorType.tag, tag)
    let length = (128 - magnitude.leadingZeroBitCount + 7) / 8
    writeHead(MajorType.bytes, UInt64(length))
    for place in (0..<length).reversed() { output.writeByte(UInt8(truncatingIfNeeded: magnitude >> (8 * place))) }
  }

  @inline(__always)
  func write(_ value: Double) {
    guard let single = singleBits(ofDouble: value) else {
      return output.write(InitialByte.double, value.bitPattern)
    }
    writeSingle(single)
  }

  @inline(__always)
  func write(_ value: Float) {
    writeSingle(value.bitPattern)
  }

  private func writeSingle(_ bits: UInt32) {
    if let half = halfBits(ofSingle: bits) {
      output.write(InitialByte.half, half)
    } else {
      output.write(InitialByte.single, bits)
    }
  }

  @inline(__always)
  func write(_ value: String) {
    // `withUTF8` needs a variable, and the copy for it costs more than writing a short string. Safety: the string outlives
    // the closure.
    let isWritten: Void? = unsafe value.utf8.withContiguousStorageIfAvailable {
      unsafe writeText(UnsafeRawBufferPointer($0))
    }
    if isWritten == nil { writeForeign(value) }
  }

  /// Safety: the caller keeps the bytes until this returns.
  @inline(__always)
  private func writeText(_ buffer: UnsafeRawBufferPointer) {
    if buffer.count < 24 {
      unsafe output.append(MajorType.text | UInt8(truncatingIfNeeded: buffer.count), buffer)
    } else {
      writeHead(MajorType.text, UInt64(buffer.count))
      unsafe output.append(buffer)
    }
  }

  /// Writes a string not stored as UTF-8, such as a bridged one.
  @inline(never)
  private func writeForeign(_ value: String) {
    // Safety: the copy outlives the closure.
    var value = value
    value.withUTF8 { unsafe writeText(UnsafeRawBufferPointer($0)) }
  }

  /// Writes an array of integers, the most common array, without a Codable call per element.
  @inline(never)
  func write(_ integers: [Int]) {
    writeHead(MajorType.array, UInt64(integers.count))
    for integer in integers { write(Int64(integer)) }
  }

  func write(bytes: some ContiguousBytes) {
    // Safety: the bytes outlive the closure.
    unsafe bytes.withUnsafeBytes { unsafe writeBytes($0) }
  }

  /// Writes the in-memory bytes of a value without padding.
  func writeBytes<Value: BitwiseCopyable>(of value: Value) {
    // Safety: the copy outlives the closure.
    unsafe withUnsafeBytes(of: value) { unsafe writeBytes($0) }
  }

  /// Safety: the caller keeps the bytes until this returns.
  private func writeBytes(_ buffer: UnsafeRawBufferPointer) {
    output.reserve(buffer.count + 9)
    writeHead(MajorType.bytes, UInt64(buffer.count))
    unsafe output.append(buffer)
  }

  /// Writes the key of a map entry, from `spellings` if cached there.
  @inline(__always)
  func write<Key: CodingKey>(key: Key, _ spellings: KeySpellings) {
    guard let item = spellings.item(of: key) else { return write(key: key) }
    output.append(item)
  }

  /// Writes the key of a map entry.
  @inline(__always)
  func write(key: CBORKey) {
    if key.length > 0 { output.append(key) } else { writeLong(key) }
  }

  @inline(never)
  private func writeLong(_ key: CBORKey) {
    // Safety: a literal's bytes are there as long as the program runs.
    key.text.withUTF8Buffer { unsafe writeText(UnsafeRawBufferPointer($0)) }
  }

  /// Writes the key of a map entry.
  func write<Key: CodingKey>(key: Key) {
    if let number = key.intValue, isInteger(key) {
      write(Int64(number))
    } else {
      write(key.stringValue)
    }
  }

  /// Whether a key with a number is written as an integer: in dictionaries keyed by `Int`, and where the text is a name
  /// rather than the number spelled out. Dictionaries keyed by `String` give their keys numbers too, the same for "01" as
  /// for "1".
  @inline(never)
  private func isInteger(_ key: some CodingKey) -> Bool {
    if frame.type is any IntegerKeyed.Type { return true }
    return Int(key.stringValue) == nil
  }
}

/// Dictionaries whose keys are integers.
private protocol IntegerKeyed {}
extension Dictionary: IntegerKeyed where Key == Int {}
