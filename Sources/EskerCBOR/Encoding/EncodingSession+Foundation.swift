import Foundation

extension EncodingSession {
  @inline(never)
  func write(_ uuid: UUID) {
    writeHead(Major.tag, Tag.uuid)
    writeBytes(of: uuid.uuid)
  }

  @inline(never)
  func write(_ url: URL) {
    writeHead(Major.tag, Tag.uri)
    write(url.absoluteString)
  }

  @inline(never)
  func write(_ data: Data) {
    write(bytes: data)
  }

  @inline(never)
  func write(_ date: Date) {
    switch Timestamp(date) {
    case .whole(let seconds):
      writeHead(Major.tag, Tag.epoch)
      write(seconds)
    case .fraction(let seconds):
      writeHead(Major.tag, Tag.epoch)
      write(seconds)
    case .nanoseconds(let seconds, let nanoseconds):
      writeHead(Major.tag, Tag.extendedTime)
      writeHead(Major.map, 2)
      write(Timestamp.secondsKey)
      write(seconds)
      write(Timestamp.nanosecondsKey)
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
    writeHead(Major.tag, Tag.decimalFraction)
    writeHead(Major.array, 2)
    write(Int64(decimal.exponent))
    if decimal.sign == .minus, magnitude > 0 {
      writeNegative(below: magnitude - 1)
    } else {
      write(magnitude)
    }
  }
}
