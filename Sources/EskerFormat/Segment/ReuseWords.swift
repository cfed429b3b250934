/// What a log segment says of the records that have replaced others in it, in its header.
///
/// Room of a record that is dead, and was never synced, is given to the next record of that size. From then on, sequence numbers do
/// not ascend within the segment. After a crash, the words tell whether all of it is there, as after the end of a process, or not, as
/// after a power failure: then only what stands in front of a mark, or in order, can be told from what was there before.
///
/// The sum is of ``mix(_:at:)`` over all records from `base` on. A mark, written before each sync, is a record whose hash is the sum
/// of all before it. As the sum, and what it sums up, are not stored at the same instant, a change is announced: as long as `place` is
/// that of the last record that was written, the sum counts either that one or `former`, the number of the record in front of it.
public struct ReuseWords: Hashable, Sendable {
  /// The sum over the records.
  public var sum: UInt64 = 0
  /// Where the last record was, or is being, written, in units of eight bytes.
  public var place: UInt64 = 0
  /// The number of the record that was there; 0 if there was none.
  public var former: UInt64 = 0
  /// A number not below that of any record that has replaced another; 0 if there is none, and all other words mean nothing.
  public var last: UInt64 = 0
  /// Where the records begin that the sum is of, in units of eight bytes.
  public var base: UInt64 = 0

  /// The words, in the order in which they stand in the file.
  @frozen public enum Word: Int {
    case sum, place, former, last, base

    /// The offset of the word in the file.
    @inlinable
    @inline(__always)
    public var offset: Int { ReuseWords.offset + 8 * rawValue }
  }

  /// The offset of the words in the file.
  public static let offset = 80
  /// Their length in bytes.
  public static let length = 40

  /// Words of a segment in which nothing was replaced.
  public init() {}

  /// What a record adds to the sum; nothing for number 0.
  @inlinable
  @inline(__always)
  public static func mix(_ sequence: UInt64, at place: UInt64) -> UInt64 {
    if sequence == 0 { return 0 }
    // Two rounds of multiplication and shift, as in the finaliser of MurmurHash3.
    var word = sequence &* 0xff51_afd7_ed55_8ccd ^ place &* 0x9e37_79b9_7f4a_7c15
    word ^= word >> 33
    word = word &* 0xc4ce_b9fe_1a85_ec53
    return word ^ word >> 33
  }

  /// Whether the sum is right, given that over all records but the one at `place`, and the number of what is found there now.
  public func isWhole(sumOfOthers: UInt64, found: UInt64) -> Bool {
    let before = sumOfOthers &+ Self.mix(former, at: place)
    return sum == before || sum == sumOfOthers &+ Self.mix(found, at: place)
  }
}
