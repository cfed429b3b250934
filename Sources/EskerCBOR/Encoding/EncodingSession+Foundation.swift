import Foundation

extension EncodingSession {
  /// Writes values of Foundation's types that have a form of their own.
  @inline(__always)
  func writeFoundation<T>(_ value: T) -> Bool {
    if T.self == Date.self {
      write(unsafeBitCast(value, to: Date.self))
    } else if T.self == Data.self {
      unsafeBitCast(value, to: Data.self).withUnsafeBytes(writeBytes)
    } else if T.self == UUID.self {
      writeHead(Major.tag, Tag.uuid)
      withUnsafeBytes(of: unsafeBitCast(value, to: UUID.self).uuid, writeBytes)
    } else if T.self == URL.self {
      writeHead(Major.tag, Tag.uri)
      write(unsafeBitCast(value, to: URL.self).absoluteString)
    } else if T.self == Decimal.self {
      write(unsafeBitCast(value, to: Decimal.self))
    } else {
      return false
    }
    return true
  }

  private func write(_ date: Date) {
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

  private func write(_ decimal: Decimal) {
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
