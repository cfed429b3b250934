internal import EskerFormat
internal import EskerPlatform

// Large records are verified once while they are in memory: to pass over a large value twice, once for its checksum, takes almost
// twice the time of a copy.
//
// A mark holds as long as nothing is known to have happened to the pages of memory that were verified:
//
// - until the record's round ends. Rounds take 2^36 nanoseconds, 69 seconds, so memory that fails, or pages that went and came again
//   unnoticed, are found as if by a scrub: but nothing runs, and records that nobody reads cost nothing. At the speed of memory, 10
//   GB a second, a thread that does nothing but read spends a 70th of its time for each 10 GB that it keeps reading. The rounds of
//   different records begin at different times, so no reader has to verify everything at once.
// - as long as the store is not larger than memory; and those of before that are of no use after it.
// - until a page of any mapping cannot be read in. What a read hands out is touched first: if that makes a page of zeros of it, the
//   read verifies the record, and finds the damage.
extension Keydir {
  /// A mark, and what it depends on besides time.
  private struct Mark {
    let word: UInt32
    let pages: UInt64
  }

  /// Binary logarithm of a round in nanoseconds.
  private static let roundShift: UInt64 = 36

  /// What changes when pages that were read may not be those of then; nil while that may be at any time. Only ever grows.
  @inline(__always)
  private var pagesState: UInt64? { env.pages.residence.map { $0 &+ UInt64(MappingFaults.count) } }

  /// The mark of a record if it is verified from now on; nil if it would not hold.
  ///
  /// Each of what is added up only ever grows, so the sum is the same only if all are. The lowest bit keeps a mark from being 0.
  @inline(__always)
  private func mark(of checksum: UInt32) -> Mark? {
    guard remembersVerified, let pages = pagesState else { return nil }
    let shift = UInt64(checksum) << (Self.roundShift - 32)
    let round = (env.platform.clock.coarseNanoseconds() &+ shift) >> Self.roundShift
    return Mark(word: (checksum &+ UInt32(truncatingIfNeeded: round &+ pages) << 1) | 1, pages: pages)
  }

  /// Calls `body` with whether it must compare checksums, as ``Options/verification`` says, and remembers if it did and found nothing.
  ///
  /// - Parameters:
  ///   - checksum: of the record's header, which covers that of the body.
  ///   - bytes: what the caller is going to use of the record, at least one byte.
  ///   - address: The record's, with a size of at least ``VerifiedRecords/leastSize``.
  ///
  /// Safety: the caller is pinned, so `bytes`, in a segment, are mapped.
  @inline(__always)
  func verifyingOnce(
    _ checksum: UInt32,
    _ bytes: UnsafeRawBufferPointer,
    at address: UInt64,
    _ body: (_ isVerified: Bool) -> RecordDamage?
  ) -> RecordDamage? {
    guard verifiesReads else { return body(false) }
    guard let mark = mark(of: checksum) else { return body(true) }
    if granules.verified.contains(mark.word, at: address), let start = bytes.baseAddress {
      unsafe MappingFaults.touch(start, byteCount: bytes.count)
      if pagesState == mark.pages { return body(false) }
    }
    let damage = body(true)
    // The mark of before: whatever happened meanwhile, it does not vouch for.
    if damage == nil { granules.verified.insert(mark.word, at: address) }
    return damage
  }

  /// The damage that a read finds in a record, if any.
  ///
  /// Safety: the caller is pinned, so the record is mapped, as far as its view has checked.
  @inline(__always)
  func damage(to record: RecordView, at place: GranuleTable.Place, _ address: UInt64) -> RecordDamage? {
    if record.size >= VerifiedRecords.leastSize { return damage(toLarge: record, at: place, address) }
    return verifiesReads ? record.damage(salt: place.salt, offsetUnits: place.offsetUnits) : nil
  }

  /// Safety: as above; the view has checked that as many bytes as its size says are there.
  @inline(never)
  private func damage(toLarge record: RecordView, at place: GranuleTable.Place, _ address: UInt64) -> RecordDamage? {
    unsafe bringInWhole(place.pointer, size: record.size)
    let bytes = unsafe UnsafeRawBufferPointer(start: place.pointer, count: record.size)
    return unsafe verifyingOnce(record.headerChecksum, bytes, at: address) { isVerified in
      isVerified ? record.damage(salt: place.salt, offsetUnits: place.offsetUnits) : nil
    }
  }
}
