internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Verifies the checksums of one segment.
///
/// Safety: `segment` keeps its mapping, and its views check offsets. A packed segment does not grow, so all of its rooms
/// have the dictionary of the view, and a buffer is used only inside its closure. Arrays outlive the decoding that they are
/// lent to, which checks their lengths.
struct SegmentVerification {
  private let env: Environment
  private let segment: Segment
  /// Where the records should end, and how much of that the file has.
  private let end: Int
  private let reach: Int
  /// Bytes read in all segments.
  private let done: VerificationProgress
  /// Bytes of this segment that `done` already includes.
  private var counted = 0
  private var report = Report.Verification()
  private var places: RecordPlaces
  /// The numbers of the records, if it is a segment of the log: others have theirs in no order.
  private let isLog: Bool
  private var numbers: RecordNumbers
  /// Where no record can be recognised, with the position of that in the report.
  private var holes: [(range: Range<Int>, damage: Int)] = []

  init(of env: Environment, _ segment: Segment, _ end: Int, _ done: VerificationProgress) {
    self.env = env
    self.segment = segment
    self.end = end
    reach = segment.reach(end)
    self.done = done
    places = RecordPlaces(end: reach)
    isLog = segment.kind == .log
    let first = segment.firstSequence
    numbers = RecordNumbers(from: first == 0 ? nil : first, lastReuse: segment.reuseWords.last)
  }

  /// - Parameter targets: The offsets in this segment that the index points to, in units of eight bytes.
  mutating func run(_ targets: [[UInt32]]) -> Report.Verification {
    report.files += 1
    report.bytes += reach
    let header = readHeader()
    if let view = segment.packedView(end: reach) {
      verifyPacked(view, header?.dictionaryChecksum)
    } else {
      verifyRecords()
    }
    // A read-only store may have touched pages that the writer was truncating.
    if segment.mapping.isFaulted, !env.isFollowing {
      report.damage.append(
        .init(location: segment.location(), length: 0, reason: "the file is truncated, or its medium failed")
      )
    }
    verifyFooter()
    if count(end) { compare(targets) }
    return report
  }

  private mutating func readHeader() -> SegmentHeader? {
    let bytes: ContiguousArray<UInt8>
    do throws(PlatformError) { bytes = try ContiguousArray(segment.bytes(in: 0..<SegmentHeader.length)) } catch {
      // That is no damage of what is there.
      if error.isDenied {
        done.fail(error)
        return nil
      }
      add(0, SegmentHeader.length, "the segment's header cannot be read: \(errorMessage(error.code))")
      return nil
    }
    let header = unsafe try? SegmentHeader(decoding: bytes.span.bytes)
    if header == nil { add(0, SegmentHeader.length, "the segment's header is damaged") }
    return header
  }

  /// Checks that the index points to records, and counts the damaged ones that it points to.
  private mutating func compare(_ targets: [[UInt32]]) {
    // An entry that moved to a new bucket meanwhile may have been found in both.
    var wrong: Set<UInt32> = []
    var damaged = DamagedPlaces(report.damage)
    defer { damaged.count(in: &report.damage, holes: targets.isEmpty ? nil : Set(holes.map(\.damage))) }
    for list in targets {
      if !damaged.isEmpty { for units in list { damaged.note(units) } }
      // What is beyond the end of the file has been reported as a whole.
      for units in list where Int(units) << 3 < reach && !places.contains(units: units) {
        if wrong.insert(units).inserted { add(Int(units) << 3, 0, IndexTargets.reason) }
      }
    }
  }

  private mutating func verifyRecords() {
    var offset = SegmentHeader.length
    var ahead = ScanWindow(segment)
    defer { ahead.finish() }
    while offset < reach {
      ahead.reach(offset)
      // Checks both checksums at once; damaged records are examined more closely.
      let view = segment.view(at: offset, end: reach)
      if let view { ahead.reach(offset, size: view.size) }
      if let view, view.damage(salt: segment.salt, offsetUnits: UInt32(truncatingIfNeeded: offset >> 3)) == nil {
        if view.kind == .seal {
          add(offset, view.size, SegmentWalk.sealAmidRecords)
        } else if view.kind != .filler {
          report.records += 1
          places.insert(offset)
          if isLog { numbers.pass(view.sequence) }
        } else if view.sequence != 0 {
          numbers.passMark(view.sequence)
        }
        offset += view.size
      } else {
        offset = passDamage(at: offset)
      }
      if offset - counted >= VerificationProgress.step, !count(offset) { return }
    }
    if offset < end { addMissing(from: offset) }
  }

  /// Reports the damage at a place; returns where the next record begins.
  private mutating func passDamage(at offset: Int) -> Int {
    switch segment.readRecord(at: offset, end: reach) {
    case .record(let header) where header.kind == .filler:
      return offset + header.size
    case .record(let header):
      report.records += 1
      places.insert(offset)
      if isLog { numbers.pass(header.sequence) }
      let lost = LostRecords(header.sequence)
      add(offset, header.size, RecordDamage.bodyChecksum.reason, lost)
      let key = segment.intactKey(of: header, at: offset, env.seed)
      report.damage[report.damage.count - 1].location.key = key
      return offset + header.size
    case .end, .damaged:
      guard let next = segment.nextRecord(after: offset, end: reach) else {
        if reach < end { addMissing(from: offset) } else { addUnreadable(offset..<reach) }
        return end
      }
      addUnreadable(offset..<next)
      return next
    }
  }

  private mutating func verifyPacked(_ view: PackedSegmentView, _ dictionaryChecksum: UInt32?) {
    if let dictionaryChecksum, unsafe CRC32C.checksum(of: view.dictionary) != dictionaryChecksum {
      add(
        SegmentHeader.length,
        segment.layout.dictionaryLength,
        "the dictionary is damaged; values that refer to the damaged bytes cannot be read"
      )
    }
    unsafe segment.unpackingBuffers.withBuffer(for: view.dictionary) { buffer in unsafe verifyPacked(view, in: buffer) }
  }

  private mutating func verifyPacked(_ view: PackedSegmentView, in buffer: UnsafeMutableRawPointer) {
    var walk = PackedWalk(view)
    var lastGroup: (id: Int, damage: RecordDamage?)?
    var ahead = ScanWindow(segment)
    defer { ahead.finish() }
    ahead.reach(0)
    while let step = walk.next(in: view) {
      switch step {
      case .record(let entry):
        ahead.reach(entry.offset, size: entry.size)
        report.records += 1
        places.insert(entry.offset)
        let damage = unsafe view.valueDamage(
          of: entry,
          lastGroup: &lastGroup,
          buffer: buffer,
          bufferLength: UnpackingBuffers.outputLength
        )
        if let damage {
          let reason = "\(damage.reason): \(LostRecords(entry.sequence).text)"
          let location = segment.location(entry.offset, key: entry.key)
          report.damage.append(.init(location: location, length: entry.size, reason: reason, records: 1))
        }
        if entry.offset - counted >= VerificationProgress.step, !count(entry.offset) { return }
      case .damaged(let range) where range.upperBound == reach && reach < end:
        return addMissing(from: range.lowerBound)
      case .damaged(let range): addUnreadable(range)
      }
    }
    if reach < end { addMissing(from: reach) }
  }

  private mutating func verifyFooter() {
    var events: [StoreEvent] = []
    let found = segment.readFooter(damage: &events, failure: done.fail)
    nameMissing(found)
    if let (footer, bytes) = found {
      report.bytes += bytes.count
      if segment.layout.isPacked, report.records < footer.entryCount { compare(footer, bytes) }
    }
    for case .damaged(let location, let reason) in events {
      report.damage.append(.init(location: location, length: segment.facts.footer.length, reason: reason))
    }
  }

  /// Says which records are missing where none can be recognised: the footer lists them, or else their numbers tell.
  private mutating func nameMissing(_ found: (footer: SegmentFooter, bytes: [UInt8])?) {
    if holes.isEmpty { return }
    let facts = segment.facts
    numbers.end(through: facts.isSealed && facts.recordsEnd == end ? facts.lastSequence : 0)
    var listed = found.map { ListedRecords($0.footer, $0.bytes, segment.layout) }
    for (number, hole) in holes.enumerated() {
      let told = isLog ? numbers.losses[number] : listed == nil ? segment.lostRecords(in: hole.range) : nil
      guard let lost = listed?.lost(in: hole.range) ?? told else { continue }
      report.damage[hole.damage].reason += ": \(lost.text)"
      report.damage[hole.damage].records = lost.count
    }
  }

  /// Finds records of a packed segment that were overwritten with zeros, which the walk takes for padding before a cell.
  private mutating func compare(_ footer: SegmentFooter, _ bytes: [UInt8]) {
    var cursor = footer.entries(segment.layout)
    let bytes = ContiguousArray(bytes)
    while let entry = unsafe try? cursor.next(in: bytes.span.bytes), entry.offset < UInt64(reach) {
      let offset = Int(entry.offset)
      guard !places.contains(units: UInt32(offset >> 3)) else { continue }
      places.insert(offset)
      add(offset, Int(entry.size), Self.missing, LostRecords(entry.sequence))
    }
  }

  static let missing = "a record listed in the footer is missing"

  private mutating func addUnreadable(_ range: Range<Int>) {
    passHole(range)
    add(range.lowerBound, range.count, RecordDamage.headerChecksum.reason)
    // Index entries that point there are part of the same damage.
    for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) { places.insert(offset) }
  }

  /// Reports that records are missing from a place on, because the file ends early.
  private mutating func addMissing(from offset: Int) {
    passHole(offset..<end)
    add(offset, end - offset, segment.cutShort(end))
    for offset in stride(from: offset, to: reach, by: 8) { places.insert(offset) }
  }

  /// Notes what the next entry of the report is of.
  private mutating func passHole(_ range: Range<Int>) {
    numbers.passHole(bytes: range.count)
    holes.append((range, report.damage.count))
  }

  private mutating func add(_ offset: Int, _ length: Int, _ reason: String, _ lost: LostRecords? = nil) {
    let reason = lost.map { "\(reason): \($0.text)" } ?? reason
    report.damage.append(
      .init(location: segment.location(offset), length: length, reason: reason, records: lost?.count ?? 0)
    )
  }

  /// Counts progress; false if the store was closed or the verification cancelled.
  @discardableResult
  private mutating func count(_ offset: Int) -> Bool {
    done.add(offset - counted)
    counted = offset
    return !done.isCancelled && !env.isClosed
  }
}

/// The damaged ranges of a segment, and which records in them the index points to.
private struct DamagedPlaces {
  /// In ascending order, each with its position in the report.
  private let ranges: [(range: Range<Int>, position: Int)]
  private var current: [Int: Set<UInt32>] = [:]

  init(_ damage: [Report.Verification.Damage]) {
    ranges = damage.enumerated().compactMap { position, damage in
      guard let offset = damage.location.offset, damage.length > 0 else { return nil }
      return (offset..<offset + damage.length, position)
    }.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  var isEmpty: Bool { ranges.isEmpty }

  /// Notes a place that the index points to, in units of eight bytes.
  mutating func note(_ units: UInt32) {
    let offset = Int(units) << 3
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].range.upperBound <= offset { low = middle + 1 } else { high = middle }
    }
    guard low < ranges.count, ranges[low].range.contains(offset) else { return }
    current[ranges[low].position, default: []].insert(units)
  }

  /// Enters the numbers into a report.
  ///
  /// - Parameter holes: Where no record can be recognised, so that the index may have been made without what is there; nil if nothing is
  ///   known of the index.
  func count(in damage: inout [Report.Verification.Damage], holes: Set<Int>?) {
    for (_, position) in ranges {
      let count = current[position]?.count ?? 0
      damage[position].current = count
      damage[position].records = max(damage[position].records, count)
      if holes?.contains(position) ?? true { damage[position].unknown = damage[position].records - count }
    }
  }
}

/// The progress of a verification, on all of its threads. Relaxed: a counter, and a flag that threads may see late.
final class VerificationProgress: Sendable {
  /// The number of bytes that a thread reads between two reports.
  static let step = 1 << 20

  private let bytes = Atomic<Int>(0)
  private let stopped = Atomic<Bool>(false)
  /// Why something could not be read.
  private let failure = Guarded<PlatformError?>(nil, .leaf)
  private let total: Int

  init(total: Int) {
    self.total = max(1, total)
  }

  func add(_ count: Int) {
    bytes.add(count, ordering: .relaxed)
  }

  /// Reports to the caller, who may cancel. Called on the caller's thread.
  func report(to progress: ((Double) -> Bool)?) {
    if progress?(share) == false { stopped.store(true, ordering: .relaxed) }
  }

  /// Notes that something could not be read.
  func fail(_ error: PlatformError) {
    failure.withLock { $0 = $0 ?? error }
  }

  /// Throws if the verification has not read everything.
  func check() throws(StoreError) {
    if let error = failure.withLock({ $0 }) { throw StoreError(error) }
    if isCancelled { throw .cancelled }
  }

  /// Whether the caller asked to stop.
  var isCancelled: Bool { stopped.load(ordering: .relaxed) }

  /// From 0 to 1.
  private var share: Double { min(1, Double(bytes.load(ordering: .relaxed)) / Double(total)) }
}
