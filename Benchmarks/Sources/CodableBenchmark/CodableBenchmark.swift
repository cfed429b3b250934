import EskerCBOR
import Foundation

// The cost of encoding and decoding a struct of about 110 bytes of JSON: in CBOR, in JSON, and with a coder that writes
// nothing, which measures Codable itself. Prints the median of several rounds in nanoseconds per call. An argument selects
// the values with it in their names.

struct City: Codable, Equatable {
  var id: Int
  var name: String
  var country: String
  var latitude: Double
  var capital: Bool
  var twins: [Int]
}

struct Visit: Codable, Equatable {
  var id: Int
  var name: String
  var place: String
  var distance: Double
  var paid: Bool
  var date: Date
}

struct User: Codable, Equatable {
  var id: Int
  var name: String
  var mail: String
  var score: Double
  var active: Bool
}

func runCodableBenchmark() {
  do {
    let users = (0..<256).map {
      User(
        id: $0,
        name: "Anna Maria \($0)",
        mail: "anna.maria.\($0)@example.org",
        score: Double($0) / 8,
        active: true
      )
    }
    let cities = (0..<256).map {
      City(
        id: 2_988_507 + $0,
        name: "Saint-Rémy-\($0)",
        country: "France",
        latitude: 48.85341 + Double($0),
        capital: false,
        twins: [$0, 1_000 + $0, 100_000 + $0]
      )
    }
    let visits = (0..<256).map {
      Visit(
        id: 1_234_567_890 + $0,
        name: "visitor number \($0)",
        place: "Paris-\($0)",
        distance: 12.345 + Double($0),
        paid: true,
        date: Date(timeIntervalSinceReferenceDate: 785_431_122.123_456 + Double($0))
      )
    }
    try measure("five fields", users)
    try measure("six fields, [Int]", cities)
    try measure("six fields, Date", visits)
    try measure("one Int", Array(0..<256).map { $0 * 1_000 })
    try measure(
      "[String: Int] of 6",
      (0..<256).map { round in
        Dictionary(uniqueKeysWithValues: (0..<6).map { ("key \($0)", round + $0) })
      }
    )
    try measure("[City] of 16", (0..<16).map { Array(cities[$0 * 16..<$0 * 16 + 16]) })
  } catch {
    print("failed: \(error)")
    exit(1)
  }
}

private func measure<T: Codable & Equatable>(_ name: String, _ values: [T]) throws {
  if CommandLine.arguments.count > 1, !name.contains(CommandLine.arguments[1]) { return }
  let encoder = CBOREncoder()
  let decoder = CBORDecoder()
  let json = JSONEncoder()
  let jsonDecoder = JSONDecoder()
  let documents = try values.map { try encoder.encode($0) }
  let jsonDocuments = try values.map { try json.encode($0) }
  guard try documents.map({ try decoder.decode(T.self, from: $0) }) == values else {
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "A value did not come back."))
  }
  print("\(name): \(documents[0].count) bytes of CBOR, \(jsonDocuments[0].count) of JSON")
  var sum = 0
  var buffer: [UInt8] = []
  let floor = try time(values) { try EmptyEncoder.run($0) }
  let lent = try time(values) { value in sum += try encoder.withEncodedBytes(of: value) { $0.byteCount } }
  let into = try time(values) { value in
    buffer.removeAll(keepingCapacity: true)
    try encoder.encode(value, into: &buffer)
    sum += buffer.count
  }
  let array = try time(values) { sum += try encoder.encode($0).count }
  let jsonEncode = try time(values) { sum += try json.encode($0).count }
  let decode = try time(documents) { if try decoder.decode(T.self, from: $0) == values[0] { sum += 1 } }
  let jsonDecode = try time(jsonDocuments) { if try jsonDecoder.decode(T.self, from: $0) == values[0] { sum += 1 } }
  print(
    "  encode  lent \(lent)  into \(into)  array \(array)  nothing \(floor)  JSON \(jsonEncode)  JSON/array \(ratio(jsonEncode, array))"
  )
  print("  decode  \(decode)  JSON \(jsonDecode)  JSON/CBOR \(ratio(jsonDecode, decode))  checksum \(sum)")
}

private func ratio(_ a: Int, _ b: Int) -> Double { (Double(a) / Double(b) * 10).rounded() / 10 }

/// The median over several rounds of nanoseconds per call.
private func time<Input>(_ inputs: [Input], _ body: (Input) throws -> Void) throws -> Int {
  let clock = ContinuousClock()
  var calls = 1
  var rounds: [Int] = []
  while rounds.count < 9 {
    let taken = try clock.measure {
      for _ in 0..<calls { for input in inputs { try body(input) } }
    }
    let nanoseconds = Int(taken.components.seconds * 1_000_000_000 + taken.components.attoseconds / 1_000_000_000)
    if nanoseconds < 20_000_000 {
      calls *= 2
    } else {
      rounds.append(nanoseconds / (calls * inputs.count))
    }
  }
  return rounds.sorted()[rounds.count / 2]
}
