// Writes measurements of some weather stations, as a service would: esker-measurements [STORE]
import EskerLog

let path = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "measurements.esker"
let store = try LogStore(at: path)
let stations = try store.keyspace("stations")
let measurements = try store.keyspace("measurements")

// A station's name and where it is, as JSON, which any language reads.
let places = [("at-vienna", "Vienna", 198), ("at-graz", "Graz", 353), ("ch-zurich", "Zürich", 408)]
for (id, name, altitude) in places {
  try stations.put(#"{"name": "\#(name)", "altitude": \#(altitude)}"#, forKey: id)
}

/// Hours as text that sorts by time.
func hour(_ number: Int) -> String {
  func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
  return "2026-03-\(padded(number / 24 + 1))T\(padded(number % 24))"
}

/// A temperature as a number of eight bytes, the least significant first.
func bytes(of temperature: Double) -> [UInt8] {
  let bits = temperature.bitPattern
  return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
}

// A key is a station and an hour: so a station's measurements are a range, and those of a day, too. All of a day are written at once.
for day in 0..<10 {
  try store.write { batch in
    for (number, (id, _, altitude)) in places.enumerated() {
      for hourOfDay in 0..<24 {
        let warmth = 12 - Double((hourOfDay - 14) * (hourOfDay - 14)) / 16
        let temperature = warmth + Double(day) / 2 + Double(number) - Double(altitude) / 100
        try batch.put(bytes(of: temperature), forKey: "\(id)/\(hour(day * 24 + hourOfDay))", in: measurements)
      }
    }
  }
}

// What counts, and what is forgotten after a while.
try store.increment("measurements", by: Int64(places.count * 240))
try store.put("Swift", forKey: "written by", expiry: .after(.seconds(86_400)))
try store.close()
