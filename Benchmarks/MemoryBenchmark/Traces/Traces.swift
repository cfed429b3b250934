import Foundation

/// Requests of a cache in the order in which they were made, the keys numbered from 0.
package struct Trace {
  package let name: String
  package let requests: [Int]
  package let uniqueCount: Int

  package init(name: String, keys: [UInt64]) {
    self.name = name
    var numbers: [UInt64: Int] = [:]
    requests = keys.map { key in
      let next = numbers.count
      return numbers[key, default: next] == next
        ? {
          numbers[key] = next; return next
        }() : numbers[key, default: 0]
    }
    uniqueCount = numbers.count
  }

  /// The first requests.
  package func prefix(_ count: Int) -> Trace {
    count >= requests.count ? self : Trace(name: name, keys: requests.prefix(count).map { UInt64($0) })
  }
}

enum TraceError: Error {
  case unpacking(String, status: Int32)
  case noTraces(String)
}

/// Every trace of a directory whose format is known by its name.
package func readTraces(_ directory: String) throws -> [Trace] {
  let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
  let traces = try names.compactMap { name in try readTrace(directory + "/" + name, name: name) }
  if traces.isEmpty { throw TraceError.noTraces(directory) }
  return traces
}

private func readTrace(_ path: String, name: String) throws -> Trace? {
  let title = String(name.prefix { $0 != "." })
  if title.hasPrefix("cache2k") {
    // Keys of four bytes.
    let bytes = try unpack(path)
    let keys = stride(from: 0, to: bytes.count - 3, by: 4).map { start in
      bytes[start..<start + 4].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    return Trace(name: title, keys: keys)
  }
  if title.hasPrefix("adapt_size") {
    // time key size
    return Trace(name: title, keys: try fields(path, separator: UInt8(ascii: " ")).map { $0[1] })
  }
  if title.hasPrefix("arc") {
    // first-block count ignored request: each line asks for `count` blocks.
    let lines = try fields(path, separator: UInt8(ascii: " "))
    return Trace(name: title, keys: lines.flatMap { $0[0]..<($0[0] + $0[1]) })
  }
  if title.hasPrefix("cloudPhysics") {
    // version,time,op,size,lbn after one line of names
    return Trace(name: title, keys: try fields(path, separator: UInt8(ascii: ",")).dropFirst().map { $0[4] })
  }
  return nil
}

/// The numbers of each line; what is no number counts as 0.
private func fields(_ path: String, separator: UInt8) throws -> [[UInt64]] {
  try unpack(path).split(separator: UInt8(ascii: "\n")).map { line in
    line.split(separator: separator).map { field in
      field.reduce(UInt64(0)) { sum, digit in (48...57).contains(digit) ? sum * 10 + UInt64(digit - 48) : 0 }
    }
  }
}

/// The bytes of a packed file.
package func unpack(_ path: String) throws -> [UInt8] {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = [path.hasSuffix(".zst") ? "zstd" : "xz", "-dc", path]
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let output = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  if process.terminationStatus != 0 { throw TraceError.unpacking(path, status: process.terminationStatus) }
  return Array(output)
}
