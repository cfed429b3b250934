internal import EskerFormat
internal import EskerPlatform

/// A large record that may be used: it was verified now or before.
///
/// If it was before, that vouches for the pages of memory in which the record stood then. One that is gone may turn out to be so only
/// when the record is used, and reads as zeros. So who copies the value compares the state of the pages after that, and who lends it
/// touches them before.
///
/// Safety: valid only while the reader that found it stays pinned, as a view is.
@safe
private struct LargeRecord {
  let record: RecordView
  let place: GranuleTable.Place
  let address: UInt64
  /// The state of the pages when it was verified before; see ``Keydir/pagesState``.
  let pages: UInt64?
}

/// What a read finds out about a large record before it uses it.
enum LargeRecordCheck {
  case damaged(RecordDamage)
  case intact
  /// It was intact when the pages were in that state.
  case trusted(pages: UInt64)
}

// Large records are verified once while they are in memory: to pass over a large value twice, once for its checksum, takes up to
// twice the time of a copy.
//
// A mark holds as long as nothing is known to have happened to the pages of memory that were verified:
//
// - until the record's round ends. Rounds take 2^36 nanoseconds, 69 seconds, so memory that fails, or pages that went and came again
//   unnoticed, are found as if by a scrub: but nothing runs, and records that nobody reads cost nothing. At the speed of memory, 10
//   GB a second, a thread that does nothing but read spends a 70th of its time for each 10 GB that it keeps reading. The rounds of
//   different records begin at different times, so no reader has to verify everything at once.
// - as long as the store is not larger than memory; and those of before that are of no use after it.
// - until a page of any mapping cannot be read in.
//
// Safety: callers are pinned, so the records, and the bytes that they are about to use of them, are mapped, as far as views have
// checked. A buffer takes no more than its count.
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
  var pagesState: UInt64? {
    let faults = UInt64(MappingFaults.count)
    return env.pages.residence.map { $0 &+ faults }
  }

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

  /// Checks a record of at least ``VerifiedRecords/leastSize`` bytes, as ``Options/verification`` says.
  func check(large record: RecordView, at place: GranuleTable.Place, _ address: UInt64) -> LargeRecordCheck {
    unsafe pageInWhole(place.pointer, size: record.size)
    guard verifiesReads else { return .intact }
    let mark = mark(of: record.headerChecksum)
    if let mark, granules.verified.contains(mark.word, at: address) { return .trusted(pages: mark.pages) }
    if let found = record.damage(salt: place.salt, offsetUnits: place.offsetUnits) { return .damaged(found) }
    // The mark of before: what happened meanwhile, it does not vouch for.
    if let mark { granules.verified.insert(mark.word, at: address) }
    return .intact
  }

  /// Whether a large record may be lent.
  @inline(never)
  func isIntact(large record: RecordView, at place: GranuleTable.Place, _ address: UInt64) -> Bool {
    switch check(large: record, at: place, address) {
    case .damaged: false
    case .intact: true
    case .trusted(let pages):
      unsafe isAsBefore(place.pointer, record.size, since: pages)
        || record.damage(salt: place.salt, offsetUnits: place.offsetUnits) == nil
    }
  }

  /// Whether bytes that were verified in some state of the pages are still there; touches all of their pages.
  private func isAsBefore(_ start: UnsafeRawPointer, _ byteCount: Int, since pages: UInt64) -> Bool {
    unsafe MappingFaults.touch(start, byteCount: byteCount)
    return pagesState == pages
  }

  // MARK: Reads
  //
  // Of the large record at an address that a look-up returned under the same pin, or nil if it has expired. They throw
  // `StoreError.damaged`. They are functions of their own, so that gets of small records pay for one comparison.

  /// The record, which may be lent.
  @inline(never)
  func largeRecord(at address: UInt64) throws(StoreError) -> RecordView? {
    guard let large = try find(at: address) else { return nil }
    try confirm(large)
    return large.record
  }

  /// A copy of the value.
  @inline(never)
  func largeValue(at address: UInt64) throws(StoreError) -> [UInt8]? {
    guard let large = try find(at: address) else { return nil }
    let value = unsafe [UInt8](large.record.value)
    if isAsBefore(large) { return value }
    try confirm(large)
    return unsafe [UInt8](large.record.value)
  }

  /// Copies as much of the value as fits into the buffer; returns the value's full length.
  @inline(never)
  func largeValue(at address: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int? {
    guard let large = try find(at: address) else { return nil }
    unsafe copyValue(of: large.record, into: buffer)
    if !isAsBefore(large) {
      try confirm(large)
      unsafe copyValue(of: large.record, into: buffer)
    }
    return large.record.valueLength
  }

  private func copyValue(of record: RecordView, into buffer: UnsafeMutableRawBufferPointer) {
    guard let destination = buffer.baseAddress else { return }
    unsafe destination.copyMemory(from: record.valuePointer, byteCount: min(record.valueLength, buffer.count))
  }

  /// The record, to be copied.
  @inline(__always)
  private func find(at address: UInt64) throws(StoreError) -> LargeRecord? {
    guard let place = granules.place(of: address),
      let record = unsafe RecordView(at: place.pointer, limit: place.limit)
    else { throw damage(at: address, .truncated, key: nil) }
    var pages: UInt64?
    switch check(large: record, at: place, address) {
    case .damaged(let found): throw unsafe damage(at: address, found, key: [UInt8](record.key))
    case .intact: break
    case .trusted(let state): pages = state
    }
    let expiry = record.expiry
    guard expiry == .max || expiry > time.now else { return nil }
    return LargeRecord(record: record, place: place, address: address, pages: pages)
  }

  /// Whether what was copied of a record was its bytes.
  @inline(__always)
  private func isAsBefore(_ large: LargeRecord) -> Bool { large.pages == nil || large.pages == pagesState }

  /// Throws unless a record may be lent.
  private func confirm(_ large: LargeRecord) throws(StoreError) {
    guard let pages = large.pages, unsafe !isAsBefore(large.place.pointer, large.record.size, since: pages) else {
      return
    }
    if let found = large.record.damage(salt: large.place.salt, offsetUnits: large.place.offsetUnits) {
      throw unsafe damage(at: large.address, found, key: [UInt8](large.record.key))
    }
  }

  // MARK: Packed records

  /// Calls `body`, which uses the value of a packed record that is stored as it was put, with whether it must compare checksums first;
  /// a second time if that was not known before.
  ///
  /// - Parameters:
  ///   - checksum: of the record's header, which covers that of the value.
  ///   - lent: the value, unless `body` copies it.
  ///   - address: that of a record of at least ``VerifiedRecords/leastSize`` bytes.
  @inline(__always)
  func verifyingOnce(
    _ checksum: UInt32,
    at address: UInt64,
    lending lent: UnsafeRawBufferPointer? = nil,
    _ body: (_ isVerified: Bool) -> RecordDamage?
  ) -> RecordDamage? {
    guard verifiesReads else { return body(false) }
    guard let mark = mark(of: checksum) else { return body(true) }
    if granules.verified.contains(mark.word, at: address) {
      if let lent = unsafe lent, let start = lent.baseAddress {
        unsafe MappingFaults.touch(start, byteCount: lent.count)
      }
      let found = body(false)
      if pagesState == mark.pages { return found }
    }
    let found = body(true)
    if found == nil { granules.verified.insert(mark.word, at: address) }
    return found
  }
}
