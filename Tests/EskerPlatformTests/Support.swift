import EskerPlatform
import EskerTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension File {
  func write(_ bytes: [UInt8], at offset: Int = 0) throws {
    try bytes.withUnsafeBytes { try write($0, at: offset) }
  }

  /// What stands in `range`, as far as the file goes.
  func bytes(_ range: Range<Int>) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: range.count)
    let count = try bytes.withUnsafeMutableBytes { try read(into: $0, at: range.lowerBound) }
    return Array(bytes.prefix(count))
  }

  func allBytes() throws -> [UInt8] { try bytes(0..<status().size) }
}

extension Mapping {
  subscript(offset: Int) -> UInt8 {
    get { base.load(fromByteOffset: offset, as: UInt8.self) }
    set { base.storeBytes(of: newValue, toByteOffset: offset, as: UInt8.self) }
  }
}

extension FileSystem {
  func create(_ path: String, _ bytes: [UInt8], synced: Bool = false) throws {
    let file = try open(path, .create)
    try file.write(bytes)
    if synced { try file.sync() }
  }

  func contents(_ path: String) throws -> [UInt8]? {
    guard try status(path) != nil else { return nil }
    return try open(path, .read).allBytes()
  }
}

/// The error number a call fails with; nil when it succeeds.
func errorCode(_ body: () throws -> Void) -> Int32? {
  do {
    try body()
    return nil
  } catch {
    return (error as? PlatformError)?.code
  }
}

func filled(_ byte: UInt8, _ count: Int) -> [UInt8] { Array(repeating: byte, count: count) }
