import CLimits
import EskerLog
import Foundation

extension EskerSubject {
  func packedDocuments() throws -> Measurement {
    try measureDocuments(assignment, at: assignment.storePath) { _, _ in
      var options = Options()
      options.compression = .lz4
      return try EskerStore(at: assignment.storePath, options: options)
    }
  }
}

/// Puts all documents under ascending keys, packs them, closes and reopens the store, and gets documents at random.
func measureDocuments<E: Engine>(
  _ assignment: Assignment,
  at path: String,
  _ open: (_ bytes: Int, _ count: Int) throws -> E
) throws -> Measurement {
  // The first eight bytes of each document read are summed.
  let lines = try DocumentFile.all(assignment).flatMap(\.lines).filter { $0.count >= 8 }
  let bytes = lines.reduce(0) { $0 + $1.count }
  let keys = KeyBuffer(numbers: Order.sequential(count: lines.count), shape: .ascending)
  let filled = try open(bytes, lines.count)
  let before = Resources.now()
  let writer = try filled.session()
  for (index, line) in lines.enumerated() {
    try line.withUnsafeBytes { try writer.put($0, forKey: keys[index]) }
  }
  try writer.end()
  try filled.settle()
  let written = Resources.now().written - before.written
  try filled.close()
  let disk = try DiskUse.bytes(at: path)
  let apart = try DiskUse.bytes(at: path, without: ["reserve"])

  let engine = try open(bytes, lines.count)
  let order = Order.uniform(below: lines.count, count: 200_000, seed: 0xE5_4E4)
  let session = try engine.session()
  let gets = Gets(
    session: session,
    keys: KeyBuffer(numbers: order, shape: .ascending),
    out: ValueBuffer(length: lines.map(\.count).max() ?? 8)
  )
  try gets.run(0..<order.count)
  var pace = Pace()
  try pace.run(gets, 0..<order.count)
  try session.end()
  try engine.close()
  let expected = order.reduce(into: UInt64(0)) { sum, number in
    sum &+= lines[Int(number)].withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
  }
  guard pace.tally.checksum == expected else {
    throw BenchmarkError.wrongResult(cell: "documents", expected: "\(expected)", found: "\(pace.tally.checksum)")
  }
  var measurement = Measurement(pace)
  measurement.diskBytes = disk
  measurement.writtenBytes = written
  measurement.figures["documents over bytes on disk"] = Double(bytes) / Double(disk)
  measurement.figures["documents over bytes on disk without the reserve"] = Double(bytes) / Double(apart)
  return measurement
}
