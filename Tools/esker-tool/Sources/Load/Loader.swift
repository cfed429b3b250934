import Esker

/// Reads records from a source and stores them.
///
/// Memory use does not grow with the input.
struct Loader<Source: RecordSource>: ~Copyable {
  private var source: Source
  private var target: LoadTarget
  private var acknowledgements: Acknowledgements
  private var tally = LoadTally()
  private var position = LoadPosition()
  private let checkpoint: LoadCheckpoint?
  private let plan: LoadPlan
  /// Whether what is acknowledged, and all at the end, is synced: as asked, or because the store syncs what it is given.
  private let syncs: Bool
  /// The durability of each write. One by one, syncs would take most of the time.
  private let durability: Durability?
  private let start = ContinuousClock.now

  /// The maximum number of records, and of their bytes, stored in one batch together with a checkpoint.
  private static var batchLimit: (records: Int, bytes: Int) { (10_000, 1 << 20) }

  init(_ source: Source, into keyspace: Keyspace, resuming checkpoint: LoadCheckpoint?, _ plan: LoadPlan) {
    self.source = source
    self.checkpoint = checkpoint
    self.plan = plan
    target = LoadTarget(keyspace)
    let isSynced = keyspace.store.statistics.settings.durability == .synced
    durability = isSynced ? .buffered : nil
    syncs = plan.syncs || isSynced
    acknowledgements = Acknowledgements(every: plan.acknowledgeEvery, syncs: syncs)
  }

  /// Loads everything and reports the result, even after a failure.
  mutating func run(_ reader: inout LineReader) throws {
    let progress = Progress("loading", of: "records", total: reader.remainingBytes, isQuiet: plan.isQuiet)
    let countBefore = count
    do {
      defer { progress.clear() }
      try load(&reader, progress)
    } catch {
      // Records loaded before a bad line are valid. After a failure of the store, only acknowledged ones are.
      if error is ToolError { try settle() }
      try report(countBefore)
      throw error
    }
    try settle()
    try report(countBefore)
    // A load that stored nothing of what it was given has failed, whatever was to be skipped.
    if stored == 0, tally.expired == 0, tally.kept == 0, tally.skipped > 0 {
      throw ToolError.nothingLoaded(tally.skipped)
    }
  }

  /// The number of entries in the store, without load positions. Includes expired ones: a record that is added may have expired.
  private var count: Int {
    let statistics = target.store.statistics
    return statistics.keys - (checkpoint.flatMap { statistics.keyspaces[$0.keyspace.name]?.keys } ?? 0)
  }

  private var stored: Int { tally.earlier + tally.records }

  private mutating func settle() throws {
    if syncs { try target.store.sync() }
    try acknowledgements.finish(stored)
  }

  private mutating func report(_ countBefore: Int) throws {
    let seconds = (ContinuousClock.now - start).seconds
    tally.replaced = min(max(0, tally.records - (count - countBefore)), tally.records)
    try tally.report(seconds: seconds, asJSON: plan.printsJSON, isQuiet: plan.isQuiet)
  }

  private mutating func load(_ reader: inout LineReader, _ progress: Progress) throws {
    try source.begin(&reader)
    guard let checkpoint else {
      let (durability, onlyAbsent) = (durability, plan.onlyAbsent)
      while try step(
        &reader,
        progress,
        { keyspace, key, value, expiry in
          if onlyAbsent {
            return try keyspace.putIfAbsent(value, forKey: key, expiry: expiry, durability: durability) != nil
          }
          try keyspace.put(value, forKey: key, expiry: expiry, durability: durability)
          return true
        }
      ) {
        if acknowledgements.isDue(stored) { try acknowledgements.send(stored, of: target.store) }
      }
      return
    }
    try resume(&reader, from: checkpoint, progress)
    while try loadBatch(&reader, progress, checkpoint) {
      if acknowledgements.isDue(stored) { try acknowledgements.send(stored, of: target.store) }
    }
  }

  /// Moves to where an earlier load stopped, if it did, and checks that it was a load of the same input.
  private mutating func resume(
    _ reader: inout LineReader,
    from checkpoint: LoadCheckpoint,
    _ progress: Progress
  ) throws {
    guard let stopped = try checkpoint.position() else { return note(reader) }
    let isThere = try source.resume(at: stopped.place, &reader) { position throws(ToolError) in
      try Interruption.check()
      progress.update(done: 0, at: position)
    }
    guard isThere else { throw ToolError.otherInput(name: reader.name) }
    tally.earlier = stopped.records
    note(reader)
  }

  private mutating func note(_ reader: borrowing LineReader) {
    guard let place = source.place(reader) else { return }
    position = LoadPosition(bytes: place.bytes, lines: place.lines, records: stored, checksum: place.checksum)
  }

  /// Stores some records together with the position after them, atomically; false at the end.
  private mutating func loadBatch(
    _ reader: inout LineReader,
    _ progress: Progress,
    _ checkpoint: LoadCheckpoint
  ) throws -> Bool {
    let before = tally
    var failure: (any Error)?
    var isAtEnd = false
    do {
      try target.store.write(durability: durability) { (batch) throws in
        do {
          repeat {
            isAtEnd = try !step(&reader, progress) {
              try batch.put($2, forKey: $1, in: $0, expiry: $3)
              return true
            }
            note(reader)
          } while !isAtEnd && !isBatchFull(since: before, reader)
        } catch {
          // The records before it are stored all the same.
          failure = error
        }
        if isAtEnd { try checkpoint.forget(in: &batch) } else { try checkpoint.keep(position, in: &batch) }
      }
    } catch {
      tally = before
      throw error
    }
    if let failure { throw failure }
    return !isAtEnd
  }

  private func isBatchFull(since before: LoadTally, _ reader: borrowing LineReader) -> Bool {
    tally.records - before.records >= Self.batchLimit.records || tally.bytes - before.bytes >= Self.batchLimit.bytes
      || acknowledgements.isDue(stored) || reader.isDrained
  }

  /// Reads one record and passes it to `put`, which says whether it was stored; false at the end.
  private mutating func step(
    _ reader: inout LineReader,
    _ progress: Progress,
    _ put: (Keyspace, Span<UInt8>, Span<UInt8>, Expiry?) throws -> Bool
  ) throws -> Bool {
    try Interruption.check()
    switch try source.next(&reader) {
    case .end: return false
    case .blank: break
    case .bad(let line, let why): try tally.refuse(line, why, Source.unit, plan, progress)
    case .notTaken(let kind): tally.notTaken[kind, default: 0] += 1
    case .record: try store(reader, progress, put)
    }
    progress.step(tally.records, at: reader.position)
    return true
  }

  private mutating func store(
    _ reader: borrowing LineReader,
    _ progress: Progress,
    _ put: (Keyspace, Span<UInt8>, Span<UInt8>, Expiry?) throws -> Bool
  ) throws {
    if source.isExpired {
      tally.expired += 1
      return
    }
    let keyspace = try target.keyspace(source.keyspace, source.forms)
    var length = 0
    var keyLength = 0
    var isStored = false
    try source.withRecord(reader) { key, value in
      keyLength = key.count
      length = value.count
      guard keyLength <= LogStore.maximumKeyLength else { return }
      isStored = try put(keyspace, key, value, expiry)
    }
    guard keyLength <= LogStore.maximumKeyLength else {
      return try tally.refuse(
        source.number(reader),
        StoreError.keyTooLong(keyLength).description,
        Source.unit,
        plan,
        progress
      )
    }
    guard isStored else {
      tally.kept += 1
      return
    }
    tally.records += 1
    tally.bytes += length
  }

  /// The record's expiry, or the load's if the record has no expiry time.
  private var expiry: Expiry? {
    if case .at = source.expiry { return source.expiry }
    return plan.expiry ?? source.expiry
  }
}
