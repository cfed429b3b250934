import CLimits
import EskerLog
import Foundation

/// Stores of packed documents, and gets from them.
extension EskerSubject {
  /// Each file's documents in stores of their own, one for each way to pack them; the key is the line number.
  func packing() throws -> Measurement {
    var measurement = Measurement(operations: 0, seconds: 0, hits: 0, checksum: 0)
    for documents in try DocumentFile.all(assignment) {
      let path = assignment.storePath + "." + documents.name
      try store(documents, .off, at: path)
      try store(documents, .lz4, at: path + ".packed")
      try store(documents, .lz4(level: 1), at: path + ".1")
      try store(documents, .lz4(level: 9), at: path + ".9")
      let raw = Double(documents.lengthOfLines)
      func share(_ name: String, without suffixes: [String] = ["reserve"]) throws -> Double {
        Double(try DiskUse.bytes(at: path + name, without: suffixes)) / raw
      }
      let figures = [
        "on disk": try share(".packed"),
        "on disk with the reserve": try share(".packed", without: []),
        "on disk without the checkpoint": try share(".packed", without: ["reserve", ".checkpoint"]),
        "on disk at level 1": try share(".1"),
        "on disk at level 9": try share(".9"),
        "on disk not packed": try share(""),
        "keys and documents": (raw + Double(documents.lengthOfKeys)) / raw,
      ]
      for (name, figure) in figures { measurement.figures["\(documents.name): \(name), of the documents"] = figure }
      try compareGets(documents, path, &measurement)
    }
    return measurement
  }

  private func store(_ documents: DocumentFile, _ compression: Options.Compression, at path: String) throws {
    var options = Options()
    options.compression = compression
    let store = try LogStore(at: path, options: options)
    for index in 0..<documents.count { try store.put(documents.line(index), forKey: documents.key(index)) }
    try store.merge()
    try store.close()
  }

  /// Random gets from the packed and the unpacked store in turn.
  private func compareGets(_ documents: DocumentFile, _ path: String, _ measurement: inout Measurement) throws {
    var options = Options()
    let plain = try LogStore(at: path, options: options)
    options.compression = .lz4
    let packed = try LogStore(at: path + ".packed", options: options)
    let order = Order.uniform(below: documents.count, count: 200_000, seed: 0xE5_4E4)
    let out = ValueBuffer(length: documents.longest)
    let keys = (0..<documents.count).map { documents.key($0) }
    func get(_ store: LogStore) throws -> (nanoseconds: Double, bytes: Int) {
      var bytes = 0
      let begin = bench_nanoseconds()
      for number in order {
        bytes += try store.get(keys[Int(number)], into: out.mutableBytes) ?? 0
        bench_await_loads()
      }
      return (Double(bench_nanoseconds() - begin) / Double(order.count), bytes)
    }
    let expected = order.reduce(0) { $0 + documents.line(Int($1)).count }
    var times: (plain: [Double], packed: [Double]) = ([], [])
    for round in 0..<6 {
      let (one, other) = (try get(plain), try get(packed))
      guard one.bytes == expected, other.bytes == expected else {
        throw BenchmarkError.wrongResult(
          cell: documents.name,
          expected: "\(expected) bytes",
          found: "\(one.bytes), packed \(other.bytes)"
        )
      }
      measurement.operations += 2 * order.count
      measurement.seconds += (one.nanoseconds + other.nanoseconds) * Double(order.count) * 1e-9
      // The first round warms up.
      if round > 0 {
        times.plain.append(one.nanoseconds)
        times.packed.append(other.nanoseconds)
      }
    }
    try plain.close()
    try packed.close()
    measurement.figures[documents.name + ": gets a second, packed over not"] =
      median(zip(times.plain, times.packed).map { $0 / $1 })
    measurement.figures[documents.name + ": a get, µs"] = median(times.plain).map { $0 * 1e-3 }
    measurement.figures[documents.name + ": a get, packed, µs"] = median(times.packed).map { $0 * 1e-3 }
  }
}
