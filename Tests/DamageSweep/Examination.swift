import EskerLog
import EskerPlatform
import EskerTestSupport
import EskerTools

/// Does with a damaged store whatever can be done with a store.
struct Examination {
  let sample: SampleStore
  let damage: Damage
  private(set) var verdict = Verdict()

  init(_ sample: SampleStore, _ damage: Damage) {
    self.sample = sample
    self.damage = damage
  }

  mutating func run() async throws {
    try await read()
    try inspect()
    try salvage()
    try write()
  }

  /// What a sample that was left in this way must not have.
  private mutating func object(_ what: String) { verdict.wrong.append(what) }

  // MARK: Reading

  private mutating func read() async throws {
    let bench = try sample.bench(damage.image)
    let events = EventLog()
    let store: LogStore
    do throws(StoreError) { store = try bench.open(events: events) { $0.readOnly = true } } catch {
      verdict.isRefused = true
      expectDamage(error, "opening for reading")
      return
    }
    verdict.isCut = events.toldOfCut
    let feed = store.changes(since: SequenceNumber(rawValue: 0))
    let shown = try gets(of: store)
    try walk(store, shown)
    let report = try store.verify()
    verdict.said += events.all.map { "reading: \($0)" } + report.damage.map { "verify: \($0)" }
    if !report.isClean { verdict.isTold = true }
    _ = store.statistics
    _ = try store.usage()
    for name in try store.keyspaceNames + [""] { _ = try store.keyspace(name).countExpired() }
    do { try store.exportStream { _ in } } catch let error as StoreError { expectDamage(error, "the export") }
    backUp(store, shown, bench)
    try store.close()
    await follow(feed)
    verdict.isTold = verdict.isTold || events.toldOfDamage
  }

  private mutating func expectDamage(_ error: StoreError, _ operation: String) {
    switch error {
    case .damaged, .notAStore, .unknownFormat: verdict.isTold = true
    default: object("\(operation) threw \(error)")
    }
  }

  /// What every key shows; keys whose reading throws are left out, and those that show nothing have nil.
  private mutating func gets(of store: LogStore) throws -> [String: [[UInt8]: [UInt8]?]] {
    var shown: [String: [[UInt8]: [UInt8]?]] = [:]
    for (space, key) in sample.history.keys {
      let keyspace: Keyspace
      do throws(StoreError) { keyspace = try store.keyspace(space) } catch {
        // An older manifest may not know it yet.
        judge(nil, key, space)
        continue
      }
      let alone = Result { () throws(StoreError) in try keyspace.get(key) }
      let together = Result { () throws(StoreError) in try keyspace.get([key]) }
      if (try? alone.get()) != (try? together.get()).map({ $0[0] }) { object("\(name(key, space)) differs in company") }
      do throws(StoreError) {
        let value = try alone.get()
        shown[space, default: [:]][key] = .some(value)
        judge(value, key, space)
      } catch {
        verdict.erring += 1
        if case .damaged = error { continue }
        object("\(name(key, space)): \(error)")
      }
    }
    return shown
  }

  private mutating func judge(_ value: [UInt8]?, _ key: [UInt8], _ space: String) {
    if value == sample.expected[space]?[key] { return }
    if let value, !sample.history.knows(value, of: key, in: space) { return object("\(name(key, space)) is made up") }
    verdict.changed.append(name(key, space))
    let durable = durableContents[space]?[key]
    // What was written later and is not damaged may have taken its place.
    if durable != nil, value != durable { verdict.changedDurable.append(name(key, space)) }
  }

  private var durableContents: SampleStore.Contents {
    sample.history.contents(through: sample.durable, at: sample.clock.wallMilliseconds())
  }

  private func name(_ key: [UInt8], _ space: String) -> String { "'\(space)'/\(String(decoding: key, as: UTF8.self))" }

  /// A snapshot shows what gets show, unless it says that something cannot be read.
  private mutating func walk(_ store: LogStore, _ shown: [String: [[UInt8]: [UInt8]?]]) throws {
    var isWhole = true
    var found: SampleStore.Contents = [:]
    let snapshot = try store.snapshot()
    for entry in snapshot {
      do throws(StoreError) {
        found[entry.keyspace, default: [:]][try entry.key()] = try entry.value()
      } catch {
        isWhole = false
        verdict.isTold = true
      }
    }
    for (space, entries) in found {
      for (key, value) in entries where !sample.history.knows(value, of: key, in: space) {
        object("the snapshot made up \(name(key, space))")
      }
      for (key, value) in entries {
        if let known = shown[space]?[key], known != value { object("the snapshot differs in \(name(key, space))") }
      }
    }
    guard isWhole else { return }
    for (space, keys) in shown {
      for (key, value) in keys where value != nil && found[space]?[key] != value {
        object("the snapshot lacks \(name(key, space))")
      }
    }
  }

  /// A backup that succeeds holds what its store showed, and all of what a store held that was closed cleanly.
  private mutating func backUp(_ store: LogStore, _ shown: [String: [[UInt8]: [UInt8]?]], _ bench: Bench) {
    do {
      try store.backup(to: "/backup")
      let copy = try bench.open("/backup") { $0.readOnly = true }
      if let damage = try copy.verify().damage.first {
        object("the backup is damaged, and nothing was said: \(damage)")
      }
      let contents = try SampleStore.contents(of: copy)
      for (space, keys) in shown {
        for (key, value) in keys where contents[space]?[key] != value {
          object("the backup differs in \(name(key, space))")
        }
      }
      if sample.ending == .clean, contents != sample.expected { object("the backup is not what the store was") }
      try copy.close()
    } catch let error as StoreError {
      expectDamage(error, "the backup")
    } catch {
      object("the backup threw \(error)")
    }
  }

  /// Reads the changes that a closed store has.
  private mutating func follow(_ feed: LogStore.Changes) async {
    var iterator = feed.makeAsyncIterator()
    for _ in 0..<100_000 {
      do throws(StoreError) {
        guard try await iterator.next() != nil else { return }
      } catch {
        if case .damaged = error { continue }
        return
      }
    }
    object("the feed does not end")
  }

  // MARK: Looking at the files

  private mutating func inspect() throws {
    let bench = try sample.bench(damage.image)
    do throws(StoreError) {
      let inspection = try StoreInspection(at: FileImage.directory, host: bench.host)
      for segment in inspection.segments {
        guard let records = try? inspection.records(of: segment.id) else { continue }
        var number = 0
        for case .record(let record) in records {
          number += 1
          if number % 37 == 1 { _ = try? inspection.record(at: record.offset, of: segment.id) }
        }
        for offset in [128, 1024, 1032, (segment.fileBytes ?? 0) & ~7] {
          _ = try? inspection.record(at: offset, of: segment.id)
        }
      }
      for (space, key) in sample.history.keys.prefix(3) { _ = try? inspection.versions(of: key, in: space) }
    } catch {
      expectDamage(error, "the inspection")
    }
  }

  // MARK: Salvage

  /// What a salvage calls complete is complete.
  private mutating func salvage() throws {
    let bench = try sample.bench(damage.image)
    do throws(StoreError) {
      let options = bench.options()
      let report = try LogStore.salvage(from: FileImage.directory, to: "/salvaged", options: options, host: bench.host)
      verdict.said += report.losses.map { "salvage: \($0)" }
      let store = try bench.open("/salvaged") { $0.readOnly = true }
      let contents: SampleStore.Contents
      do { contents = try SampleStore.contents(of: store) } catch { return object("what was salvaged cannot be read") }
      for (space, entries) in contents {
        for (key, value) in entries where report.foundManifest && !sample.history.knows(value, of: key, in: space) {
          object("the salvage made up \(name(key, space))")
        }
      }
      if report.isComplete, sample.ending == .clean, contents != sample.expected {
        let missing = sample.expected.flatMap { space, entries in
          entries.keys.filter { contents[space]?[$0] != entries[$0] }.map { name($0, space) }
        }
        let more = contents.flatMap { space, entries in
          entries.keys.filter { sample.expected[space]?[$0] == nil }.map { name($0, space) }
        }
        object("the salvage calls itself complete, and has others of \(missing) and more than there was: \(more)")
      }
      if report.isComplete, sample.ending == .crashed, contents != sample.expected {
        verdict.incompleteSalvage = true
      }
      try store.close()
    } catch {
      expectDamage(error, "the salvage")
    }
  }

  // MARK: Writing

  /// A writer that takes the store over shows what a reader shows, and nothing that it does changes that in silence.
  private mutating func write() throws {
    let bench = try sample.bench(damage.image)
    let events = EventLog()
    let isPacked = sample.isPacked
    var store: LogStore
    do throws(StoreError) { store = try bench.open(events: events) { $0.compression = isPacked ? .lz4 : .off } } catch {
      if !verdict.isRefused { object("opening for writing threw \(error), and opening for reading did not") }
      return expectDamage(error, "opening for writing")
    }
    verdict.said += events.all.map { "writing: \($0)" }
    verdict.isCut = verdict.isCut || events.toldOfCut
    let before = try gets(of: store)
    for space in SampleStore.spaces {
      do throws(StoreError) {
        let keyspace = try store.keyspace(space)
        try keyspace.put("new", forKey: "new")
        if try keyspace.get("new") != Array("new".utf8) { object("what was just put is not there") }
      } catch { expectDamage(error, "a put") }
    }
    do throws(StoreError) { try store.merge() } catch { expectDamage(error, "the merge") }
    do throws(StoreError) { try store.sync() } catch { object("the sync threw \(error)") }
    if try !store.verify().isClean { verdict.isTold = true }
    try compare(before, with: store, "after a merge")
    do throws(StoreError) { try store.close() } catch { object("the close threw \(error)") }
    verdict.isTold = verdict.isTold || events.toldOfDamage
    store = try bench.open()
    try compare(before, with: store, "when it is opened again")
    try store.close()
  }

  /// What could be read stays as it was. What could not stays an error.
  private mutating func compare(
    _ before: [String: [[UInt8]: [UInt8]?]],
    with store: LogStore,
    _ when: String
  ) throws {
    for (space, key) in sample.history.keys {
      guard let keyspace = try? store.keyspace(space), let value = try? keyspace.get(key) as [UInt8]?? else { continue }
      guard let known = before[space]?[key] else {
        if let value, !sample.history.knows(value, of: key, in: space) {
          object("\(name(key, space)) is made up \(when)")
        }
        verdict.exposed.append("\(name(key, space)) \(when)")
        continue
      }
      if value != known { object("\(name(key, space)) has changed \(when)") }
    }
  }
}
