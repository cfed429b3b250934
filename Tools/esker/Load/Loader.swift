import Esker

/// How documents are loaded.
struct LoadPlan {
  var expiry: Expiry?
  var skipsBadLines = false
  var syncs = false
  var acknowledgeEvery: Int?
}

/// Takes lines from an input, finds each one's key and stores it.
///
/// Memory does not grow with the input.
struct Loader: ~Copyable {
  private var scanner: JSONScanner
  private var acknowledgements: Acknowledgements
  private var progress = LoadProgress()
  private var tally = LoadTally()
  private let keyspace: Keyspace
  private let plan: LoadPlan

  init(into keyspace: Keyspace, keyField: String, _ plan: LoadPlan) {
    self.keyspace = keyspace
    self.plan = plan
    scanner = JSONScanner(field: keyField)
    acknowledgements = Acknowledgements(every: plan.acknowledgeEvery, syncs: plan.syncs)
  }

  /// Loads everything and reports what was done, whether it went well or not.
  mutating func run(_ reader: inout LineReader) throws {
    progress.totalBytes = reader.remainingBytes
    let countBefore = keyspace.count
    let start = ContinuousClock.now
    do {
      defer { progress.clear() }
      try loadLines(&reader)
    } catch {
      // What was loaded before a bad line is as good as any. After a failure of the store only what was acknowledged is.
      if error is ToolError { try settle() }
      report(since: start, countBefore)
      throw error
    }
    try settle()
    report(since: start, countBefore)
  }

  private mutating func settle() throws {
    if plan.syncs { try keyspace.store.sync() }
    try acknowledgements.finish(tally.records)
  }

  private mutating func report(since start: ContinuousClock.Instant, _ countBefore: Int) {
    tally.replaced = min(max(0, tally.records - (keyspace.count - countBefore)), tally.records)
    StandardError.write(tally.summary(seconds: (ContinuousClock.now - start).seconds) + "\n")
  }

  private mutating func loadLines(_ reader: inout LineReader) throws {
    while true {
      switch try reader.next() {
      case .end:
        return
      case .tooLong:
        let limit = HumanUnits.count(LogStore.maximumValueLength)
        try refuse(reader.lineNumber, "longer than the \(limit) bytes a value can have")
      case .text(let range):
        try load(reader.buffer.span.extracting(range), number: reader.lineNumber)
      }
      progress.update(records: tally.records, bytes: reader.bytesConsumed)
    }
  }

  private mutating func load(_ text: Span<UInt8>, number: Int) throws {
    let line = text.extracting((number == 1 ? byteOrderMarkLength(text) : 0)...)
    if isBlank(line) { return }
    do throws(JSONFault) {
      try scanner.scan(line)
    } catch {
      let field = scanner.field
      return try refuse(number, error.description(field: String(decoding: field, as: UTF8.self)))
    }
    let keyLength = scanner.key.count
    guard keyLength <= LogStore.maximumKeyLength else {
      return try refuse(number, StoreError.keyTooLong(keyLength).description)
    }
    try keyspace.put(line, forKey: scanner.key, expiry: plan.expiry)
    tally.records += 1
    tally.bytes += line.count
    if acknowledgements.isDue(tally.records) { try acknowledgements.send(tally.records, of: keyspace.store) }
  }

  /// Counts a line that cannot be loaded, or ends the load.
  private mutating func refuse(_ number: Int, _ why: @autoclosure () -> String) throws(ToolError) {
    guard plan.skipsBadLines else { throw .badLine(number: number, why: why()) }
    tally.skipped += 1
    guard tally.skipped <= LoadTally.reportedLines else { return }
    progress.clear()
    StandardError.report(ToolError.badLine(number: number, why: why()).description)
  }

  private func byteOrderMarkLength(_ bytes: Span<UInt8>) -> Int {
    bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
  }

  private func isBlank(_ line: Span<UInt8>) -> Bool {
    var cursor = JSONCursor()
    cursor.skipSpace(line)
    return cursor.position == line.count
  }
}
