import EskerFormat
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// How many records damage has taken and which: an opening, a verification and a salvage say the same, and it is true.
@Suite struct LostRecordsTests {
  /// A segment of the log before it was damaged.
  private struct Whole {
    var image: DiskImage
    var name: String
    var row: SegmentRow
    /// Where its records stand, and their numbers.
    var records: [(offset: Int, number: UInt64)]

    init(_ machine: Machine, segment id: UInt64) throws {
      image = try DiskImage(of: machine)
      name = FileName.segment(id)
      let inspection = try StoreInspection(at: machine.path, host: machine.host)
      row = try #require(try image.rows.first { $0.id == id })
      // So that an opening reads the log.
      for name in image.names where name.hasSuffix(".checkpoint") { image.files[name] = nil }
      records = try inspection.records(of: id).compactMap { element in
        guard case .record(let record) = element, record.kind != .seal else { return nil }
        return (record.offset, record.sequence.rawValue)
      }
    }

    func numbers(in range: Range<Int>) -> [UInt64] { records.filter { range.contains($0.offset) }.map(\.number) }

    /// Zeros in place of records, and of the footer, so that the records are read.
    func zeroing(_ range: Range<Int>, footer: Bool) -> DiskImage {
      var image = image
      for offset in range { image.files[name]?[offset] = 0 }
      if footer {
        for offset in Int(row.recordsEnd) + 32..<Int(row.fileLength) { image.files[name]?[offset] = 0 }
      }
      return image
    }
  }

  /// What is said of the numbers, by each of the three.
  private func said(of image: DiskImage, _ name: String) throws -> [String: [String]] {
    let log = EventLog()
    let store = try image.machine().open {
      $0.readOnly = true
      $0.onEvent = { log.record($0) }
    }
    let verified = try store.verify().damage
    try store.close()
    let machine = try image.machine()
    let salvaged = try LogStore.salvage(from: machine.path, to: "/new", options: machine.options(), host: machine.host)
    let events = log.events.compactMap { event -> String? in
      guard case .damaged(let location, let reason) = event, location.path.hasSuffix(name) else { return nil }
      return reason
    }
    let found = [
      "opening": events, "verify": verified.filter { $0.location.path.hasSuffix(name) }.map(\.reason),
      "salvage": salvaged.losses.filter { $0.location.path.hasSuffix(name) }.map(\.reason),
    ]
    return found.mapValues { $0.compactMap(Self.phrase) }
  }

  /// The part of a reason that says which records.
  private static func phrase(_ reason: String) -> String? {
    reason.firstMatch(of: /(up to \d+ records from|\d+ records from|a record from|records?) #\d+( to #\d+)?/)
      .map { String($0.output.0) }
  }

  private static func numbers(_ phrase: String) -> [UInt64] {
    phrase.matches(of: /#(\d+)/).compactMap { UInt64($0.output.1) }
  }

  private static func count(_ phrase: String) -> Int {
    let numbers = numbers(phrase)
    if let count = phrase.firstMatch(of: /(\d+) records from/).flatMap({ Int($0.output.1) }) { return count }
    return phrase.hasPrefix("a record") || numbers.count < 2 ? 1 : Int(numbers[1] - numbers[0]) + 1
  }

  /// Segments in which numbers ascend by one: all is known.
  @Test func whereNumbersAscendTheyAreExact() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    for number in 0..<400 { try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)") }
    try store.close()
    let whole = try Whole(machine, segment: 1)
    let places = whole.records.map(\.offset)
    for (first, end) in [(20, 23), (20, 21), (0, 1), (0, 30), (100, places.count)] {
      let range = places[first]..<(end < places.count ? places[end] : Int(whole.row.recordsEnd))
      let lost = whole.numbers(in: range)
      let expected = lost.count == 1 ? "record #\(lost[0])" : "records #\(lost[0]) to #\(lost[lost.count - 1])"
      let said = try said(of: whole.zeroing(range, footer: true), whole.name)
      #expect(said == ["opening": [expected], "verify": [expected], "salvage": [expected]], "\(first)..<\(end)")
      let cut = end == places.count ? whole.image.truncating(whole.name, to: places[first] + 100) : nil
      if let cut {
        let said = try self.said(of: cut, whole.name)
        #expect(said == ["opening": [expected], "verify": [expected], "salvage": [expected]], "cut at \(first)")
      }
    }
  }

  /// Two places in one segment have each their own.
  @Test func severalPlacesAreToldApart() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    for number in 0..<400 { try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)") }
    try store.close()
    var whole = try Whole(machine, segment: 1)
    let places = whole.records.map(\.offset)
    whole.image = whole.zeroing(places[20]..<places[25], footer: false)
    let said = try said(of: whole.zeroing(places[40]..<places[41], footer: true), whole.name)
    let expected = [
      "records #\(whole.records[20].number) to #\(whole.records[24].number)", "record #\(whole.records[40].number)",
    ]
    #expect(said == ["opening": expected, "verify": expected, "salvage": expected])
  }

  /// A closed store in whose first segment records have replaced others, and how many.
  private static func reused(hasMark: Bool) throws -> (Machine, Int) {
    var machine = Machine()
    machine.reusesSpace = true
    let store = try machine.open()
    var round = 0
    while (store.probe.tailEnd ?? 0) < 50_000 {
      try store.put([UInt8](repeating: 2, count: 80), forKey: "hot \(round % 4)")
      if round % 3 == 0 { try store.put([UInt8](repeating: 1, count: 130), forKey: "key \(round)") }
      round += 1
      if hasMark, round % 25 == 0 { try store.sync() }
      try #require(round < 10_000)
    }
    let replaced = store.probe.recordsReplaced
    try #require(store.probe.tailID == 1)
    // All is sealed, so that nothing of it is merged or written to.
    store.probe.stopBackground()
    try store.probe.rotate()
    try store.put("v", forKey: "last")
    store.probe.sealFinished()
    try store.close()
    return (machine, replaced)
  }

  /// Where records have replaced others, the highest number in front of the damage says nothing of those behind it.
  @Test(arguments: [true, false], [true, false]) func whereRecordsHaveReplacedOthersNoneIsLeftOut(
    cuts: Bool,
    hasMark: Bool
  ) throws {
    var machine = Machine()
    var replaced = 0
    // Nothing is replaced as long as any thread of the process is pinned.
    for _ in 0..<50 where replaced < 50 { (machine, replaced) = try Self.reused(hasMark: hasMark) }
    try #require(replaced >= 50)
    let whole = try Whole(machine, segment: 1)
    let order = whole.records.map(\.number)
    #expect(zip(order, order.dropFirst()).contains { $0 > $1 })
    let places = whole.records.map(\.offset)
    let range = places[places.count / 2]..<(cuts ? Int(whole.row.recordsEnd) : places[places.count / 2 + 20])
    let lost = whole.numbers(in: range)
    let image = cuts ? whole.image.truncating(whole.name, to: range.lowerBound + 8) : whole.zeroing(range, footer: true)
    let said = try said(of: image, whole.name)
    #expect(Set(said.values).count == 1, "\(said)")
    for (who, phrases) in said {
      let phrase = try #require(phrases.first, "\(who)")
      let bounds = Self.numbers(phrase)
      #expect(phrases.count == 1)
      #expect(bounds[0] <= lost.min() ?? 0, "\(who): \(phrase), \(lost.min() ?? 0)")
      #expect(bounds[bounds.count - 1] >= lost.max() ?? 0, "\(who): \(phrase), \(lost.max() ?? 0)")
      #expect(Self.count(phrase) >= lost.count, "\(who): \(phrase), \(lost.count)")
      // Behind a mark, little is said to be lost that is not.
      if hasMark { #expect(bounds[0] > order[places.count / 4], "\(who): \(phrase)") }
    }
  }

  /// Of a segment that was not sealed nobody knows how many bytes it had, but where the next one begins.
  @Test(arguments: [128, 10_000, 26_612, 40_000]) func whatAShortFileLacksIsToldByTheNextSegment(length: Int) throws {
    let store = try KilledStore()
    let row = try #require(store.full.first)
    let name = FileName.segment(row.id)
    let machine = try store.image.machine()
    let all = try StoreInspection(at: machine.path, host: machine.host).records(of: row.id).compactMap {
      element -> (Int, UInt64)? in
      guard case .record(let record) = element, record.kind == .put else { return nil }
      return (record.offset + record.size, record.sequence.rawValue)
    }
    let lost = all.filter { $0.0 > length }.map(\.1)
    let said = try said(of: store.image.truncating(name, to: length), name)
    let expected = "records #\(lost[0]) to #\(lost[lost.count - 1])"
    #expect(said == ["opening": [expected], "verify": [expected], "salvage": [expected]])
  }

  /// What a merge wrote is in no order of numbers, and its footer lists it.
  @Test(arguments: [false, true]) func aFooterSaysWhatIsMissing(isMerged: Bool) throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    for number in 0..<120 {
      try store.put(
        [UInt8](repeating: 1, count: 300),
        forKey: "key \(number)",
        expiry: number % 2 == 0 ? .never : .after(.seconds(90_000))
      )
    }
    for number in 0..<20 { try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)") }
    try store.probe.rotate()
    store.probe.sealFinished()
    if isMerged { try store.merge() }
    let id = try #require(
      store.probe.segments.first { $0.kind == (isMerged ? .merged : .log) && $0.footerLength > 0 }?.id
    )
    try store.close()
    let whole = try Whole(machine, segment: id)
    let places = whole.records.map(\.offset)
    let range = places[10]..<places[15]
    let lost = whole.numbers(in: range).sorted()
    let isWithoutGap = lost[4] - lost[0] == 4
    let expected = isWithoutGap ? "records #\(lost[0]) to #\(lost[4])" : "5 records from #\(lost[0]) to #\(lost[4])"
    let said = try said(of: whole.zeroing(range, footer: false), whole.name)
    // The opening reads the footer, and misses nothing.
    #expect(said == ["opening": [], "verify": [expected], "salvage": [expected]])
  }

  enum Written: CaseIterable { case log, merged, packed }

  /// Flipped bits anywhere in the segments, their footers among them: what verify and a salvage name is never less than what is lost.
  @Test(arguments: Written.allCases) func neverTooFewAreNamed(_ written: Written) throws {
    var seeds = SeededGenerator(announcedFor: "LostRecordsTests \(written)")
    for _ in 0..<8 {
      var random = SeededGenerator(seed: seeds.next())
      let machine = Machine()
      let store = try machine.open {
        $0.merge.isAutomatic = false
        if written == .packed { $0.compression = .lz4(level: 1) }
      }
      var values: [String: [UInt8]] = [:]
      for number in 0..<400 {
        let value = [UInt8](
          repeating: UInt8(number & 127),
          count: Int.random(in: 0...(number % 3 == 0 ? 600 : 60), using: &random)
        )
        try store.put(value, forKey: "key \(number)")
        values["key \(number)"] = value
      }
      if written != .log {
        for number in stride(from: 0, to: 400, by: 5) {
          try store.remove("key \(number)")
          values["key \(number)"] = nil
        }
        try store.probe.rotate()
        store.probe.sealFinished()
        try store.merge()
      }
      try store.close()
      var image = try DiskImage(of: machine)
      for name in image.names where name.hasSuffix(".checkpoint") { image.files[name] = nil }
      for name in image.names where name.hasSuffix(".segment") {
        guard let length = image.files[name]?.lastIndex(where: { $0 != 0 }), length > 1_000 else { continue }
        for _ in 0..<Int.random(in: 1...20, using: &random) {
          let offset = Int.random(in: SegmentHeader.length..<length, using: &random)
          image.files[name]?[offset] ^= 1 << UInt8.random(in: 0...7, using: &random)
        }
      }
      let damaged = try image.machine()
      let reader = try damaged.open { $0.readOnly = true }
      let verified = try reader.verify().damage.reduce(0) { $0 + $1.records }
      try reader.close()
      let report = try LogStore.salvage(from: damaged.path, to: "/new", options: damaged.options(), host: damaged.host)
      let new = try LogStore(at: "/new", options: damaged.options(), host: damaged.host)
      let lost = try values.filter { try new.get($0.key) != $0.value }.count
      try new.close()
      let named = report.losses.reduce(0) { $0 + $1.records }
      #expect(named >= lost, "seed \(random.seed): \(report.losses)")
      #expect(verified >= lost, "seed \(random.seed)")
    }
  }

  @Test func aDamagedValueIsToldWithItsNumber() throws {
    let machine = Machine()
    let store = try machine.open()
    for number in 0..<9 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.close()
    let whole = try Whole(machine, segment: 1)
    let image = whole.image.flipping(whole.name, whole.records[4].offset + 40, bit: 3)
    let said = try said(of: image, whole.name)
    #expect(said == ["opening": ["record #5"], "verify": ["record #5"], "salvage": ["record #5"]])
  }
}

extension DiskImage {
  /// The segments that the newer copy of the manifest lists.
  fileprivate var rows: [SegmentRow] {
    get throws {
      let copies = try FileName.manifests.compactMap { files[$0] }.map {
        try Manifest(decoding: ContiguousArray($0).span.bytes)
      }
      return copies.max { $0.generation < $1.generation }?.segments ?? []
    }
  }
}

/// Against logs that are made up, and of which all is known.
@Suite struct RecordNumbersTests {
  @Test func whatIsSaidHoldsWhateverWasReplaced() throws {
    var seeds = SeededGenerator(announcedFor: "RecordNumbersTests")
    var exact = 0
    for _ in 0..<3_000 {
      var generator = SeededGenerator(seed: seeds.next())
      // Numbers in the order of places; nil is a mark with the number in front of it.
      var places: [(number: UInt64, isMark: Bool)] = []
      var (next, floor, lastReuse): (UInt64, Int, UInt64) = (UInt64.random(in: 1...50, using: &generator), 0, 0)
      let first = next
      let reuses = Bool.random(using: &generator)
      for _ in 0..<Int.random(in: 1...60, using: &generator) {
        if reuses, floor + 1 < places.count, generator.oneIn(3) {
          let place = Int.random(in: floor..<places.count, using: &generator)
          if places[place].isMark || place == 0 { continue }
          places[place].number = next
          lastReuse = next
        } else {
          places.append((next, false))
        }
        next += 1
        if generator.oneIn(12) {
          places.append((next - 1, true))
          floor = places.count
        }
      }
      var numbers = RecordNumbers(from: generator.oneIn(4) ? nil : first, lastReuse: lastReuse)
      var lost: [[UInt64]] = []
      var isInHole = false
      let rate = Int.random(in: 3...30, using: &generator)
      for (index, place) in places.enumerated() {
        if index > 0, generator.oneIn(isInHole ? 2 : rate) {
          if !isInHole {
            numbers.passHole(bytes: places.count * 40)
            lost.append([])
          }
          isInHole = true
          if !place.isMark { lost[lost.count - 1].append(place.number) }
        } else {
          isInHole = false
          if place.isMark { numbers.passMark(place.number) } else { numbers.pass(place.number) }
        }
      }
      numbers.end(through: next - 1)
      for (said, true_) in zip(numbers.losses, lost) where !true_.isEmpty {
        let said = try #require(said, "seed \(generator.seed): \(places)")
        #expect(
          said.numbers.contains(true_.min() ?? 0) && said.numbers.contains(true_.max() ?? 0),
          "seed \(generator.seed): \(said) \(true_)"
        )
        #expect(said.count >= true_.count, "seed \(generator.seed): \(said) \(true_)")
        if said.isExact {
          exact += 1
          #expect(said.count == true_.count, "seed \(generator.seed): \(said) \(true_)")
        }
      }
    }
    #expect(exact > 100)
  }

  /// What damage leaves of a large segment is told in no more time than it takes to read it.
  @Test(.timeLimit(.minutes(60))) func manyGapsAreToldToo() {
    let count = 200_000 as UInt64
    var numbers = RecordNumbers(from: 1, lastReuse: 2 * count)
    for number in 1...count {
      // None ascends by one: each has replaced another, or stands behind a gap.
      numbers.pass(number.isMultiple(of: 3) ? 2 * count - number : number)
      if number.isMultiple(of: 2) { numbers.passHole(bytes: 64) }
    }
    numbers.end(through: 2 * count)
    #expect(numbers.losses.count == Int(count / 2))
    #expect(numbers.losses.allSatisfy { $0 != nil })
  }

  @Test func theTexts() {
    #expect(LostRecords(3...3).sentence == "record #3 is damaged")
    #expect(LostRecords(3...7).sentence == "records #3 to #7 are damaged")
    #expect(LostRecords(3...7, count: 2, isExact: true).text == "2 records from #3 to #7")
    #expect(LostRecords(3...7, count: 2, isExact: false).sentence == "up to 2 records from #3 to #7 are damaged")
    #expect(LostRecords(3...7, count: 1, isExact: false).sentence == "a record from #3 to #7 is damaged")
  }
}
