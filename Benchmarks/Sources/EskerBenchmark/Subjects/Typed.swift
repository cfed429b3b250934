import Esker
import Foundation

/// About 110 bytes as JSON.
struct User: Codable, Sendable {
  var id: Int
  var name: String
  var mail: String
  var score: Double
  var active: Bool

  init(_ number: Int) {
    id = number
    name = "Anna Maria \(number)"
    mail = "anna.maria.\(number)@example.org"
    score = Double(number) / 8
    active = true
  }

  static func key(_ number: Int) -> String { "key-\(number &* 2_654_435_761 % 1_000_000_007)" }
}

/// An engine's calls to set and get structs by number.
struct TypedCalls {
  /// Sets the struct with this number.
  var set: (Int) throws -> Void
  /// Reads it and returns its number; nil if it is missing.
  var get: (Int) throws -> Int?

  /// Sets are verified by gets; gets are preceded by sets.
  func measure(_ assignment: Assignment) throws -> Measurement {
    let count = assignment.operations
    let order = Order.shuffled(below: count, count: count, seed: 0xE5_4E4)
    let sets = Closures { index in
      try set(index)
      return 0
    }
    let gets = Closures { index in try get(Int(order[index])).map(UInt64.init) ?? 0 }
    var pace = Pace()
    if assignment.workload.isTypedSet {
      let before = Resources.now()
      try pace.run(sets, 0..<count)
      let written = Resources.now().written - before.written
      pace.tally = try gets.run(0..<count)
      var measurement = Measurement(pace)
      measurement.writtenBytes = written
      return try checked(measurement)
    }
    try sets.run(0..<count)
    try gets.run(0..<count)
    try pace.run(gets, 0..<count)
    return try checked(Measurement(pace))
  }

  private func checked(_ measurement: Measurement) throws -> Measurement {
    let expected = UInt64(measurement.hits) * UInt64(max(measurement.hits - 1, 0)) / 2
    guard measurement.checksum == expected else {
      throw BenchmarkError.wrongResult(cell: "typed", expected: "\(expected)", found: "\(measurement.checksum)")
    }
    return measurement
  }
}

extension Workload {
  var isTypedSet: Bool { self == .typedSetJSON || self == .typedSetBinary }
  var isJSON: Bool { self == .typedSetJSON || self == .typedGetJSON }
}

extension EskerSubject {
  func typed() throws -> Measurement {
    let store = try LogStore(at: assignment.storePath)
    let transformer = assignment.workload.isJSON ? Transformer<User>.json : Transformer<User>.binary
    let storage = try LogStorage(store, "users", key: String.self, transformer: transformer)
    let (users, keys) = typedData(assignment)
    let calls = TypedCalls(
      set: { index in try storage.set(users[index], forKey: keys[index]) },
      get: { index in try storage.value(forKey: keys[index])?.id }
    )
    var measurement = try calls.measure(assignment)
    try store.close()
    measurement.diskBytes = try DiskUse.bytes(at: assignment.storePath)
    return measurement
  }
}

/// The JSON codec alone; for the binary form, puts and gets of bytes that are already encoded.
func typedLimit(_ assignment: Assignment) throws -> Measurement {
  let (users, keys) = typedData(assignment)
  if assignment.workload.isJSON {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    let texts = try users.map { try encoder.encode($0) }
    return try TypedCalls(
      set: { index in _ = try encoder.encode(users[index]).count },
      get: { index in try decoder.decode(User.self, from: texts[index]).id }
    ).measure(assignment)
  }
  let store = try LogStore(at: assignment.storePath)
  let bytes = try users.map { try Transformer<User>.binary.encode($0) }
  let measurement = try TypedCalls(
    set: { index in try store.put(bytes[index], forKey: keys[index]) },
    get: { index in try store.get(keys[index]).map { _ in index } }
  ).measure(assignment)
  try store.close()
  return measurement
}

func typedData(_ assignment: Assignment) -> (users: [User], keys: [String]) {
  ((0..<assignment.operations).map(User.init), (0..<assignment.operations).map(User.key))
}
