import EskerLog

/// What a walk over a store's entries has shown.
struct Census: Equatable {
  /// For each thread and place, the number of the write whose value was shown.
  private(set) var numbers: [[UInt64]]
  /// For each thread and place, the version of what was shown.
  private(set) var versions: [[UInt64]]
  /// Entries that were shown.
  private(set) var count = 0
  /// Entries that no writer has written so, or that were shown twice.
  private(set) var oddities: [Finding] = []

  init(_ places: Places) {
    numbers = places.layouts.map { [UInt64](repeating: Script.absent, count: $0.count) }
    versions = places.layouts.map { [UInt64](repeating: 0, count: $0.count) }
  }

  static func == (left: Census, right: Census) -> Bool {
    left.numbers == right.numbers && left.versions == right.versions
  }

  /// The same without versions, which a copy with numbers of its own does not have.
  var withoutVersions: Census {
    var census = self
    census.versions = numbers.map { [UInt64](repeating: Self.unknown, count: $0.count) }
    return census
  }

  /// The version of what is not compared by it.
  static let unknown: UInt64 = 0

  /// The keys that were shown, by keyspace.
  func keys(_ places: Places) -> [String: Set<[UInt8]>] {
    var keys: [String: Set<[UInt8]>] = [:]
    for thread in numbers.indices {
      for place in numbers[thread].indices where numbers[thread][place] != Script.absent {
        keys[places.keyspace(place, thread: thread), default: []].insert(places.key(place, thread: thread))
      }
    }
    return keys
  }

  mutating func add(_ entry: Snapshot.Entry, _ places: Places) throws(StoreError) {
    count += 1
    try entry.withBytes { (key, value) in
      key.withUnsafeBytes { key in
        value.withUnsafeBytes { value in take(key, value, entry, places) }
      }
    }
  }

  private mutating func take(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer,
    _ entry: Snapshot.Entry,
    _ places: Places
  ) {
    var name: String { String(decoding: key, as: UTF8.self) }
    guard let (thread, place) = places.find(key, in: entry.keyspace) else {
      return oddities.append(Finding("shows a key that was never written", "\"\(name)\" in \"\(entry.keyspace)\""))
    }
    guard let number = ValueForm.number(of: value) else {
      return oddities.append(
        Finding("shows a value that was never written", "\(name): \(Array(value.prefix(16))), \(value.count) bytes")
      )
    }
    if numbers[thread][place] != Script.absent {
      oddities.append(
        Finding("shows a key twice", "\(name): write \(numbers[thread][place]) and write \(number) (\(entry.version))")
      )
    }
    numbers[thread][place] = number
    versions[thread][place] = entry.version.rawValue
  }
}

/// How a write's value looks.
enum ValueForm {
  /// The number that a value carries; nil if it is none that a script writes.
  static func number(of value: UnsafeRawBufferPointer) -> UInt64? {
    guard value.count >= 8 else { return nil }
    let number = UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))
    let filler = UInt8(truncatingIfNeeded: number)
    return value[8...].allSatisfy { $0 == filler } ? number : nil
  }
}
