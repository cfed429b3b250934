import Foundation

extension DecodingSession {
  @inline(never)
  func date(at offset: Int) throws -> Date {
    let (tag, content) = try firstTag(at: offset) {
      $0 == CBORTag.epoch || $0 == CBORTag.extendedTime || $0 == CBORTag.dateText
    }
    var stamp: CBORTimestamp?
    switch tag {
    case CBORTag.epoch:
      stamp = try seconds(at: content)
    case CBORTag.extendedTime:
      stamp = try extendedTime(at: content)
    case CBORTag.dateText:
      let text = try text(at: content)
      let parsed =
        (try? Date(text, strategy: .iso8601))
        ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
      stamp = parsed.map { .reference($0.timeIntervalSinceReferenceDate) }
    default:
      stamp = .reference(try double(at: content))
    }
    guard let date = stamp?.date else { throw corrupted(at: offset, "The item is no date.") }
    return date
  }

  /// Seconds since 1970.
  private func seconds(at offset: Int) throws -> CBORTimestamp {
    try head(at: offset).isFloat
      ? .fraction(try double(at: offset))
      : .whole(try integer(Int64.self, at: offset))
  }

  /// A map with seconds and, in dates written by Esker, nanoseconds.
  private func extendedTime(at offset: Int) throws -> CBORTimestamp? {
    let head = try head(at: offset)
    guard head.major == MajorType.map else { throw mismatch(Date.self, at: offset) }
    var seconds: CBORTimestamp?
    var nanoseconds: UInt32 = 0
    let end = try skip(offset)
    var position = head.end
    for _ in 0..<(try items(head)) {
      let key = try integer(Int64.self, at: position)
      switch key {
      case CBORTimestamp.secondsKey: seconds = try self.seconds(at: next)
      case CBORTimestamp.nanosecondsKey: nanoseconds = try integer(UInt32.self, at: next)
      default: next = try skip(next)
      }
      position = next
    }
    next = end
    guard case .whole(let whole) = seconds else { return nanoseconds == 0 ? seconds : nil }
    return nanoseconds < 1_000_000_000 ? .nanoseconds(whole, nanoseconds) : nil
  }

  func data(at offset: Int) throws -> Data {
    guard let bytes = try bytes(at: offset) else { throw mismatch(Data.self, at: offset) }
    return Data(bytes)
  }

  @inline(never)
  func uuid(at offset: Int) throws -> UUID {
    if let bytes = try bytes(at: offset) {
      guard bytes.count == 16 else { throw corrupted(at: offset, "A UUID has 16 bytes, not \(bytes.count).") }
      return UUID(
        uuid: (
          bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
          bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
        )
      )
    }
    guard try head(at: offset).major == MajorType.text, let uuid = UUID(uuidString: try text(at: offset)) else {
      throw mismatch(UUID.self, at: offset)
    }
    return uuid
  }

  @inline(never)
  func url(at offset: Int) throws -> URL {
    guard try head(at: offset).major == MajorType.text else { throw mismatch(URL.self, at: offset) }
    let text = try text(at: offset)
    guard let url = URL(string: text) else { throw corrupted(at: offset, "The text \(text) is no URL.") }
    return url
  }

  @inline(never)
  func decimal(at offset: Int) throws -> Decimal {
    let (tag, content) = try firstTag(at: offset) { $0 == CBORTag.decimalFraction }
    guard tag != nil else { return try untaggedDecimal(at: offset) }
    let head = try head(at: content)
    guard head.major == MajorType.array, try items(head) == 2 else {
      throw corrupted(at: offset, "A decimal fraction has an exponent and a coefficient.")
    }
    let exponent = try integer(Int64.self, at: head.end)
    guard (-128...127).contains(exponent) else {
      throw corrupted(at: offset, "The exponent \(exponent) does not fit in Decimal.")
    }
    let value = try coefficient(at: next, exponent: Int(exponent))
    next = try skip(content)
    return value
  }

  private func untaggedDecimal(at offset: Int) throws -> Decimal {
    guard try head(at: offset).isFloat else { return try coefficient(at: offset, exponent: 0) }
    let number = try double(at: offset)
    if number.isNaN { return .nan }
    guard number.isFinite, let decimal = Decimal(string: number.description) else {
      throw corrupted(at: offset, "The number \(number) does not fit in Decimal.")
    }
    return decimal
  }

  private func coefficient(at offset: Int, exponent: Int) throws -> Decimal {
    var negative = false
    var magnitude: UInt128
    if let bignum = try bignum(at: offset) {
      (negative, magnitude) = bignum
    } else {
      let number = try integer(Int128.self, at: offset)
      negative = number < 0
      magnitude = UInt128(bitPattern: negative ? ~number : number)
    }
    if negative {
      let (sum, overflow) = magnitude.addingReportingOverflow(1)
      guard !overflow else { throw corrupted(at: offset, "The number does not fit in Decimal.") }
      magnitude = sum
    }
    guard let significand = Decimal(string: magnitude.description) else {
      throw corrupted(at: offset, "The number does not fit in Decimal.")
    }
    return Decimal(sign: negative ? .minus : .plus, exponent: exponent, significand: significand)
  }

  private func items(_ head: ItemReader.Head) throws -> Int {
    do { return try reader.items(head) } catch { throw decodingError(error) }
  }
}
