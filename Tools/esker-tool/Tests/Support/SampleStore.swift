import Esker
import EskerTools
import Foundation

/// Stores that have something to show.
enum SampleStore {
  /// Closed, of many small segments, with values that were replaced, removed, or will expire, in two keyspaces.
  static func make(at path: String, entries: Int = 3_000, segmentSize: Int = 64 << 10, isPacked: Bool = false) throws {
    var options = Options()
    options.segmentSize = segmentSize
    options.merge.isAutomatic = false
    options.compression = isPacked ? .lz4 : .off
    let store = try LogStore(at: path, options: options)
    let other = try store.keyspace("names")
    for number in 0..<entries {
      let value = "{\"id\":\(number),\"title\":\"Film \(number % 97)\",\"genres\":[\"Drama\",\"Silent\"],\"year\":1921}"
      try store.put(
        value + String(repeating: " ", count: number % 150),
        forKey: "key \(number * 7 % (entries / 2 + 1))"
      )
      if number % 5 == 0 { try other.put(value, forKey: "name \(number)", expiry: .after(.seconds(86_400))) }
      if number % 9 == 0 { try store.remove("key \(number / 3)") }
      if isPacked, number == entries / 2 { try store.merge() }
    }
    try store.close()
  }

  /// Turns over a bit of a file of the store.
  static func flip(_ store: String, _ name: String, at offset: Int) throws {
    let url = URL(fileURLWithPath: store).appendingPathComponent(name)
    var bytes = try Data(contentsOf: url)
    bytes[offset] ^= 1
    try bytes.write(to: url)
  }

  static func segments(_ store: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: store).filter { $0.hasSuffix(".segment") }.sorted()
  }
}

extension SampleStore {
  /// One entry whose key is no text.
  static func makeBinary(at path: String) throws {
    let store = try LogStore(at: path)
    try store.put([1, 2, 3] as [UInt8], forKey: [0xFF, 0, 0x0A] as [UInt8])
    try store.close()
  }

  /// Makes a store's manifest one of a version to come, checksum and all.
  static func makeNewer(_ store: String) throws {
    for name in ["manifest.a", "manifest.b"] {
      let url = URL(fileURLWithPath: store).appendingPathComponent(name)
      var bytes = try Data(contentsOf: url)
      bytes[8] = 2
      let checksum = crc32c(bytes[0..<36])
      withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(36..<40, with: $0) }
      try bytes.write(to: url)
    }
  }

  private static func crc32c(_ bytes: Data) -> UInt32 {
    var state = UInt32.max
    for byte in bytes {
      state ^= UInt32(byte)
      for _ in 0..<8 { state = state & 1 == 1 ? state >> 1 ^ 0x82F6_3B78 : state >> 1 }
    }
    return ~state
  }
}

extension SampleStore {
  /// The segments' numbers, oldest first.
  static func ids(_ store: String) throws -> [UInt64] { try StoreInspection(at: store).segments.map(\.id) }
}
