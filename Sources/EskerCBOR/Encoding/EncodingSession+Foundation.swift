import Foundation

extension EncodingSession {
  @inline(never)
  func write(_ uuid: UUID) {
    writeHead(MajorType.tag, CBORTag.uuid)
    writeBytes(of: uuid.uuid)
  }

  @inline(never)
  func write(_ url: URL) {
    writeHead(MajorType.tag, CBORTag.uri)
    write(url.absoluteString)
  }

  @inline(never)
  func write(_ data: Data) {
    write(bytes: data)
  }

  @inline(never)
  func write(_ date: Date) {
    switch CBORTimestamp(date) {
    case .whole(let seconds):
      writeHead(MajorType.tag, CBORTag.epoch)
      write(seconds)
    case .fraction(let seconds):
      writeHead(MajorType.tag, CBORTag.epoch)
      write(seconds)
    case .nanoseconds(let seconds, let nanoseconds):
      writeHead(MajorType.tag, CBORTag.extendedTime)
      writeHead(MajorType.map, 2)
      write(CBORTimestamp.secondsKey)
      write(seconds)
      write(CBORTimestamp.nanosecondsKey)
      write(Int64(nanoseconds))
    case .reference(let seconds):
      write(seconds)
    }
  }

  @inline(never)
  func write(_ decimal: Decimal) {
    guard decimal.isFinite, let magnitude = UInt128(decimal.significand.magnitude.description) else {
      return write(Double.nan)
    }
    writeHead(MajorType.tag, CBORTag.decimalFraction)
    writeHead(MajorType.array, 2)
    write(Int64(decimal.exponent))
    if decimal.sign == .minus, magnitude > 0 {
      writeNegative(below: magnitude - 1)
    } else {
      write(magnitude)
    }
  }
}
