internal import EskerFormat
internal import EskerLog

/// Reads everything that is intact in a damaged store, and writes it to a new one.
///
/// Safety: `source` keeps the files that records point into, and the store has copied key and value when a put returns.
/// Arrays outlive the calls that borrow their bytes.
struct Salvage {
  let source: SalvageSource
  private let files: SalvageFiles
  private var census: SalvageCensus
  private(set) var report = SalvageReport()
  /// Records with an intact header but a damaged key or value.
  private var damaged: [(header: RecordHeader, loss: SalvageReport.Loss)] = []
  private var batch: [(header: RecordHeader, offset: Int)] = []
  /// What was read of each log segment, by id.
  private var runs: [UInt64: LogRun] = [:]
  /// Where no record can be recognised in log segments, with the position of the loss in the report.
  private var holes: [UInt64: [Int]] = [:]

  init(_ source: SalvageSource) throws(StoreError) {
    self.source = source
    files = SalvageFiles(source)
    census = try SalvageCensus(source.manifest, files)
    report.foundManifest = source.manifest != nil
    report.segments = source.segments.count
    report.bytes = source.segments.reduce(0) { $0 + $1.end }
    report.losses = source.losses
  }

  private static let truncated = "the segment is truncated"

  // MARK: Reading

  mutating func read(progress: (Double) -> Bool) throws(StoreError) {
    for (position, segment) in source.segments.enumerated() {
      try read(segment, position)
      segment.detach()
      guard progress(Double(position + 1) / Double(source.segments.count)) else { throw .cancelled }
    }
    let gaps = source.manifest.map { LogGaps($0, runs).gaps } ?? []
    for id in holes.keys.sorted() { nameMissing(in: id, gaps) }
    for (header, loss) in damaged { account(for: header, loss) }
    for gap in gaps { account(for: gap) }
    report.losses.sort { ($0.location.path, $0.location.offset ?? 0) < ($1.location.path, $1.location.offset ?? 0) }
  }

  private mutating func read(_ segment: SegmentFile, _ position: Int) throws(StoreError) {
    if let reason = segment.headerDamage { lose(segment, 0, SegmentHeader.length, reason) }
    let known = report.losses.count
    if let view = segment.packedView {
      try readPacked(segment, view, position)
    } else {
      try readPlain(segment, position)
    }
    guard let end = segment.declaredEnd, end > segment.end else { return }
    // Unless a range that cannot be read goes so far.
    if report.losses[known...].contains(where: { ($0.location.offset ?? 0) + $0.length == end }) { return }
    lose(segment, segment.end, end - segment.end, Self.truncated)
    noteFitting(in: segment.end..<end, of: segment, at: report.losses.count - 1)
    if segment.isLog, var run = runs[segment.id] {
      run.numbers.passHole(bytes: end - segment.end)
      runs[segment.id] = run
      holes[segment.id, default: []].append(report.losses.count - 1)
    }
  }

  private mutating func readPacked(
    _ segment: SegmentFile,
    _ view: PackedSegmentView,
    _ position: Int
  ) throws(StoreError) {
    guard let seed = segment.seed ?? source.seed else {
      lose(segment, 0, segment.end, "the seed of the store's key hashes is lost")
      let range = segment.layout.recordsStart..<max(segment.layout.recordsStart, segment.end)
      return noteFitting(in: range, of: segment, at: report.losses.count - 1)
    }
    var walk = PackedWalk(view)
    var records = 0
    var passed: Set<Int> = []
    let row = source.manifest?.segments.first { $0.id == segment.id }
    let found = segment.footer(row)
    var listed = found.map { ListedRecords($0.footer, $0.bytes, segment.layout) }
    while let step = walk.next(in: view) {
      switch step {
      case .damaged(let range):
        lose(segment, range.lowerBound, range.count, "no recognisable record")
        noteLost(in: range, of: segment, &listed, at: report.losses.count - 1)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) { passed.insert(offset) }
      case .record(let entry):
        records += 1
        passed.insert(entry.offset)
        try take(RecordHeader(entry, seed), at: entry.offset, of: segment, position)
      }
    }
    if let (footer, bytes) = found, records < footer.entryCount {
      compare(passed, footer, bytes, segment)
    }
  }

  /// Reports records of a packed segment that were overwritten with zeros, which the walk takes for padding before a
  /// cell.
  private mutating func compare(_ passed: Set<Int>, _ footer: SegmentFooter, _ bytes: [UInt8], _ segment: SegmentFile) {
    var cursor = footer.entries(segment.layout)
    let bytes = ContiguousArray(bytes)
    while let entry = unsafe try? cursor.next(in: bytes.span.bytes) {
      let offset = Int(entry.offset)
      if passed.contains(offset) { continue }
      lose(segment, offset, Int(entry.size), DamageRules.missing)
      noteLost(LostRecords(entry.sequence), at: report.losses.count - 1)
    }
  }

  private mutating func readPlain(_ segment: SegmentFile, _ position: Int) throws(StoreError) {
    var offset = SegmentHeader.length
    var isDone = false
    var run: LogRun?
    let row = source.manifest?.segments.first { $0.id == segment.id }
    let first = row?.firstSequence ?? 0
    var numbers = RecordNumbers(from: first == 0 ? nil : first, lastReuse: segment.lastReuse)
    var listed = segment.footer(row).map { ListedRecords($0.footer, $0.bytes, segment.layout) }
    while !isDone, offset < segment.end {
      switch segment.readRecord(at: offset) {
      case .record(let header) where header.kind == .seal:
        isDone = true
        numbers.passMark(header.sequence)
        if let last = run?.last { run?.last = max(last, header.sequence) }
      case .record(let header) where header.kind == .filler:
        if header.isMark { numbers.passMark(header.sequence) }
        offset += header.size
      case .record(let header):
        try take(header, at: offset, of: segment, position)
        if segment.isLog { numbers.pass(header.sequence) }
        if run == nil { run = LogRun(first: header.sequence, start: offset, last: 0, end: 0, numbers: numbers) }
        offset += header.size
        if let last = run?.last { run?.last = max(last, header.sequence) }
        run?.end = offset
      case .end, .damaged:
        let known = report.losses.count
        let start = offset
        offset = try skip(offset, in: segment, position)
        guard report.losses.count > known else { continue }
        noteLost(in: start..<offset, of: segment, &listed, at: known)
        numbers.passHole(bytes: report.losses[known].length)
        holes[segment.id, default: []].append(known)
      }
    }
    run?.numbers = numbers
    // A batch that a crash left without its end never took effect; one whose end is damaged did.
    if let first = batch.first, segment.declaredEnd == nil {
      lose(segment, first.offset, offset - first.offset, "a batch has no end, so it may never have been committed")
      batch = []
    }
    try commit(segment, position)
    if segment.isLog { runs[segment.id] = run }
    // The missing bytes may have contained records, unless a seal ended them.
    let isTold =
      report.losses.last.map { $0.location.segment == segment.id && $0.reason.hasPrefix(Self.truncated) } ?? false
    if !isDone, !isTold, segment.declaredEnd == nil, segment.lackingBytes > 0 {
      lose(segment, segment.end, segment.lackingBytes, Self.truncated)
    }
  }

  /// Skips bytes without a record; returns where the next one begins, or the end.
  private mutating func skip(
    _ offset: Int,
    in segment: SegmentFile,
    _ position: Int
  ) throws(StoreError) -> Int {
    let next = segment.nextRecord(after: offset)
    // Zeros up to the end are the end, unless it is known that there was more.
    if next == nil, segment.declaredEnd == nil, case .end = segment.readRecord(at: offset) { return segment.end }
    let end = next ?? segment.end
    let whole = segment.declaredEnd ?? segment.end + segment.lackingBytes
    if next == nil, whole > segment.end {
      // The bytes that are wrong, and those that are gone.
      lose(segment, offset, whole - offset, Self.truncated)
    } else {
      lose(segment, offset, end - offset, "no recognisable record")
    }
    if next != nil { try commit(segment, position) }
    return end
  }

  private mutating func take(
    _ header: RecordHeader,
    at offset: Int,
    of segment: SegmentFile,
    _ position: Int
  ) throws(StoreError) {
    let record = segment.record(at: offset)
    if record?.damage != nil || record == nil {
      let loss = SalvageReport.Loss(
        location: segment.location(offset, key: record.flatMap { intactKey(of: header, $0) }),
        length: record?.size ?? header.size,
        reason: "\((record?.damage ?? .truncated).reason): \(LostRecords(header.sequence).text)",
        records: 1
      )
      damaged.append((header, loss))
    }
    batch.append((header, offset))
    if !header.batchContinues || !segment.isLog { try commit(segment, position) }
  }

  private mutating func commit(_ segment: SegmentFile, _ position: Int) throws(StoreError) {
    for (header, offset) in batch {
      // The header of a tombstone contains the hash of its key, which is enough for deleting.
      let record = segment.record(at: offset)
      let isIntact = record.map { $0.damage == nil } ?? false
      guard isIntact || header.kind != .put else { continue }
      let isTaken = try census.take(header, at: files.address(position, offset)) { known in
        // If one of the keys is unreadable, equal hashes must do.
        guard isIntact, let record, let other = files.record(at: known), other.damage == nil else { return true }
        return record.hasSameKey(as: other)
      }
      if !isTaken { lose(segment, offset, header.size, DamageRules.tooManyAlike) }
    }
    batch.removeAll(keepingCapacity: true)
  }

  /// Determines what a damaged record means, once everything has been read.
  private mutating func account(for header: RecordHeader, _ loss: SalvageReport.Loss) {
    guard header.kind == .put, census.isCurrent(header.keyspace.incarnation, of: header.keyspace.id) else { return }
    var loss = loss
    if let known = census.newest(like: header) {
      // Superseded: no readable value is lost.
      if known.header.sequence > header.sequence { return }
      if known.header.kind == .put, let older = files.record(at: known.address) {
        loss.keptOlderValue = true
        loss.location.key = older.key
      }
    }
    report.losses.append(loss)
  }

  /// Says which records are missing where none can be recognised in a segment of the log.
  private mutating func nameMissing(in segment: UInt64, _ gaps: [LogGaps.Gap]) {
    guard var run = runs[segment], let holes = holes[segment] else { return }
    let behind = gaps.filter { $0.segment == segment && !$0.isAhead }.map(\.numbers.upperBound).max()
    run.numbers.end(through: max(run.last, behind ?? 0))
    for (loss, lost) in zip(holes, run.numbers.losses) where report.losses[loss].records == 0 {
      if let lost { noteLost(lost, at: loss) }
    }
  }

  /// Says which records are missing in the range of a loss: those that the footer lists or, without one, as many as fit.
  private mutating func noteLost(
    in range: Range<Int>,
    of segment: SegmentFile,
    _ listed: inout ListedRecords?,
    at loss: Int
  ) {
    if listed == nil { return noteFitting(in: range, of: segment, at: loss) }
    if let lost = listed?.lost(in: range) { noteLost(lost, at: loss) }
  }

  /// In a segment of the log the numbers around the range tell; elsewhere they are in no order, and it can have been as many as fit.
  private mutating func noteFitting(in range: Range<Int>, of segment: SegmentFile, at loss: Int) {
    guard !segment.isLog, let lost = LostRecords(in: range, segment.layout, of: segment.numbers) else { return }
    noteLost(lost, at: loss)
  }

  private mutating func noteLost(_ lost: LostRecords, at loss: Int) {
    report.losses[loss].reason += ": \(lost.text)"
    report.losses[loss].records = lost.count
  }

  /// Reports missing numbers: with the damage that explains them, or as a separate loss.
  private mutating func account(for gap: LogGaps.Gap) {
    let name = ClosedStore.segmentName(gap.segment)
    let run = runs[gap.segment]
    let cause = report.losses.firstIndex { loss in
      guard loss.location.segment == gap.segment else { return false }
      guard let run, let offset = loss.location.offset else { return true }
      return gap.isAhead ? (SegmentHeader.length..<run.start).contains(offset) : offset >= run.end
    }
    // As many as have these numbers, unless some were replaced.
    let lost = gap.isAhead ? nil : run?.numbers.missing(through: gap.numbers.upperBound)
    if let cause {
      if report.losses[cause].records == 0, !report.losses[cause].reason.contains(" #") {
        noteLost(lost ?? LostRecords(gap.numbers), at: cause)
      }
      return
    }
    let location = StoreError.Location(
      path: "\(source.path)/\(name)",
      segment: gap.segment,
      offset: gap.isAhead ? run?.start : run?.end
    )
    let place = gap.isAhead ? "before" : "after"
    let reason = "missing \(place) the part of the log that is present"
    report.losses.append(SalvageReport.Loss(location: location, length: 0, reason: reason))
    noteLost(lost ?? LostRecords(gap.numbers), at: report.losses.count - 1)
  }

  /// The key of a damaged record, if it matches the hash in the header.
  private func intactKey(of header: RecordHeader, _ record: FileRecord) -> [UInt8]? {
    guard let seed = source.seed else { return nil }
    let hash = KeyHash(seed: seed, keyspace: header.keyspace)
    let key = record.key
    return unsafe key.withUnsafeBytes { unsafe hash.hash($0) } == header.keyHash ? key : nil
  }

  private mutating func lose(_ segment: SegmentFile, _ offset: Int, _ length: Int, _ reason: String) {
    report.losses.append(SalvageReport.Loss(location: segment.location(offset), length: length, reason: reason))
  }

  // MARK: Writing

  /// Writes everything to a new store, which syncs it all when it is closed.
  mutating func write(to store: LogStore, progress: (Double) -> Bool) throws(StoreError) {
    var keyspaces: [UInt32: Keyspace] = [0: store.default]
    for row in source.manifest?.keyspaces ?? [] where !census.isRemoved(row.id) {
      let keyspace = try store.keyspace(row.name, recording: row.forms)
      if row.defaultExpiry >= 0 { try keyspace.setDefaultExpiry(.milliseconds(row.defaultExpiry)) }
      keyspaces[row.id] = keyspace
    }
    let entries = census.takeEntries()
    var window = SalvageWindow(files)
    for (number, address) in entries.enumerated() {
      if number & 1023 == 0, !progress(Double(number) / Double(entries.count)) { throw .cancelled }
      window.pass(address)
      guard let header = files.header(at: address), let record = files.record(at: address) else { continue }
      guard header.expiry > source.now else {
        report.expired += 1
        continue
      }
      let keyspace: Keyspace
      if let known = keyspaces[header.keyspace.id] {
        keyspace = known
      } else {
        keyspace = try store.keyspace("keyspace \(header.keyspace.id)")
        keyspaces[header.keyspace.id] = keyspace
      }
      let expiry = Expiry(stored: header.expiry)
      switch record {
      case .plain(let record, _, _):
        let key = unsafe record.key.bytes
        let value = unsafe record.value.bytes
        try keyspace.put(value, forKey: key, expiry: expiry, durability: .buffered)
      case .packed(let entry, let view):
        guard let value = view.intactValue(of: entry) else { continue }
        try keyspace.put(value, forKey: entry.key, expiry: expiry, durability: .buffered)
      }
      report.entries += 1
    }
    // Last, so that nothing that was saved is evicted.
    for row in source.manifest?.keyspaces ?? [] {
      try keyspaces[row.id]?.record(Keyspace.Capacity(row.budget))
    }
    _ = progress(1)
  }
}

extension RecordHeader {
  /// The header that a packed record would have in the log.
  init(_ entry: PackedEntry, _ seed: HashSeed) {
    self.init(
      sequence: entry.sequence,
      kind: entry.kind,
      keyHash: entry.keyHash(seed),
      keyLength: entry.keyLength,
      valueLength: entry.valueLength,
      expiry: entry.expiry,
      keyspace: entry.keyspace
    )
  }
}
