/// A number that one write gave to what it stored. No two writes give the same: it consists of a time, a count and the random number
/// of the process that wrote.
///
/// **Compared for equality only**, with one exception: which of two writes that waited in queues wins is decided by ``time``. A
/// version that was lost with a failover is therefore never mistaken for the one that took its place.
public struct RemoteVersion: Hashable, Sendable {
  /// The time in the upper 48 bits and the count in the lower 16.
  @usableFromInline let high: UInt64
  /// The writer's number, of 48 bits.
  public let writer: UInt64

  /// A version from its parts, of which 48, 16 and 48 bits count.
  public init(time: UInt64, count: UInt16, writer: UInt64) {
    high = time << 16 | UInt64(count)
    self.writer = writer & 0xFFFF_FFFF_FFFF
  }

  /// How many bytes it takes where it is stored.
  static let length = 14

  /// The version at an offset, which all of its bytes are behind.
  init(_ bytes: RawSpan, at offset: Int) {
    self.init(
      time: bytes.bigEndian(at: offset, count: 6),
      count: UInt16(truncatingIfNeeded: bytes.bigEndian(at: offset + 6, count: 2)),
      writer: bytes.bigEndian(at: offset + 8, count: 6)
    )
  }

  /// Appends its bytes.
  func append(to bytes: inout [UInt8]) {
    bytes.appendBigEndian(time, count: 6)
    bytes.appendBigEndian(UInt64(count), count: 2)
    bytes.appendBigEndian(writer, count: 6)
  }

  /// When it was given: milliseconds since 1970 by the hybrid clock of the writer.
  public var time: UInt64 { high >> 16 }

  /// Tells versions of one millisecond apart.
  public var count: UInt16 { UInt16(truncatingIfNeeded: high) }

  /// Whether it counts as later than another where two queued writes meet. Total, so that all processes agree.
  public func isLater(than other: RemoteVersion) -> Bool { (high, writer) > (other.high, other.writer) }
}

extension RemoteVersion: CustomStringConvertible {
  /// Time, count and writer, as in `1767225600000.3@00A1B2C3D4E5`.
  public var description: String {
    let digits = String(writer, radix: 16, uppercase: true)
    return "\(time).\(count)@\(String(repeating: "0", count: 12 - digits.count))\(digits)"
  }
}
