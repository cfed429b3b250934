import Esker

/// Reads all records of a source as a load would, and stores none: what is wrong with the input is found.
struct LoadTrial<Source: RecordSource> {
  private var source: Source
  private let plan: LoadPlan
  private let start = ContinuousClock.now
  private(set) var tally = LoadTally()

  init(_ source: Source, _ plan: LoadPlan) {
    self.source = source
    self.plan = plan
  }

  /// Reads everything.
  ///
  /// - Parameter hasKey: Whether the store has a key, in the keyspace that its record names.
  /// - Throws: What a load would throw because of the input.
  mutating func run(_ reader: inout LineReader, hasKey: (String?, Span<UInt8>) throws -> Bool = { _, _ in false })
    throws
  {
    let progress = Progress("checking", of: "records", total: reader.remainingBytes, isQuiet: plan.isQuiet)
    defer { progress.clear() }
    try source.begin(&reader)
    while true {
      try Interruption.check()
      switch try source.next(&reader) {
      case .end: return
      case .blank: break
      case .bad(let line, let why): try tally.refuse(line, why, Source.unit, plan, progress)
      case .notTaken(let kind): tally.notTaken[kind, default: 0] += 1
      case .record: try take(reader, hasKey, progress)
      }
      progress.step(tally.records, at: reader.position)
    }
  }

  private mutating func take(
    _ reader: borrowing LineReader,
    _ hasKey: (String?, Span<UInt8>) throws -> Bool,
    _ progress: Progress
  ) throws {
    guard !source.isExpired else {
      tally.expired += 1
      return
    }
    var (keyLength, length, isThere) = (0, 0, false)
    let keyspace = source.keyspace
    try source.withRecord(reader) { key, value in
      (keyLength, length) = (key.count, value.count)
      if keyLength <= LogStore.maximumKeyLength { isThere = try hasKey(keyspace, key) }
    }
    guard keyLength <= LogStore.maximumKeyLength else {
      let why = StoreError.keyTooLong(keyLength).description
      return try tally.refuse(source.number(reader), why, Source.unit, plan, progress)
    }
    if isThere, plan.onlyAbsent {
      tally.kept += 1
      return
    }
    if isThere { tally.replaced += 1 }
    tally.records += 1
    tally.bytes += length
  }

  func report() throws(ToolError) {
    let seconds = (ContinuousClock.now - start).seconds
    try tally.report(seconds: seconds, asJSON: plan.printsJSON, isQuiet: plan.isQuiet, isDryRun: true)
  }
}
