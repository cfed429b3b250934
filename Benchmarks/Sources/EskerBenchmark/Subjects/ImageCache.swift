import CLimits
import EskerLog
import Foundation

/// Puts of images, each under a key of its own, into a cache on disk of several sizes as apps have them: Esker, or one file for each.
struct ImageCache {
  let assignment: Assignment

  /// Bytes that a cache may take.
  private static let capacities = [8, 32, 128].map { $0 << 20 }

  /// Each capacity is filled three times over. The rate is that of all, by bytes put.
  func measure(_ make: (_ path: String, _ capacity: Int) throws -> any Cache, at path: String) throws -> Measurement {
    var measurement = Measurement(operations: 0, seconds: 0, hits: 0, checksum: 0)
    let image = ValueBuffer(length: assignment.valueLength)
    for capacity in Self.capacities {
      let count = max(assignment.operations, 3 * capacity / assignment.valueLength)
      let cache = try make("\(path).\(capacity >> 20)", capacity)
      var (slowest, begin) = (UInt64(0), bench_nanoseconds())
      let start = begin
      for number in 0..<count {
        image.stamp(UInt64(number))
        try cache.put(image.bytes, number)
        let end = bench_nanoseconds()
        (slowest, begin) = (max(slowest, end - begin), end)
      }
      let seconds = Double(begin - start) * 1e-9
      measurement.seconds += seconds
      measurement.operations += count
      let name = "\(capacity >> 20) MiB: "
      measurement.figures[name + "ms a put"] = seconds * 1e3 / Double(count)
      measurement.figures[name + "slowest put, ms"] = Double(slowest) * 1e-6
      measurement.figures[name + "MB/s"] = Double(count * assignment.valueLength) / seconds * 1e-6
      measurement.figures[name + "share of the capacity that is values"] =
        Double(try cache.count() * assignment.valueLength) / Double(capacity)
      try cache.close()
    }
    return measurement
  }

  protocol Cache {
    func put(_ image: UnsafeRawBufferPointer, _ number: Int) throws
    func count() throws -> Int
    func close() throws
  }

  struct Store: Cache {
    let store: LogStore

    init(at path: String, _ capacity: Int) throws {
      store = try LogStore(at: path, options: Options(capacity: capacity))
    }

    func put(_ image: UnsafeRawBufferPointer, _ number: Int) throws {
      try store.put(RawSpan(_unsafeBytes: image), forKey: "image \(number)")
    }

    func count() throws -> Int { try store.totalCount() }
    func close() throws { try store.close() }
  }

  /// As caches of files do: a file is written under another name and renamed, and the oldest ones are removed.
  final class Files: Cache {
    private let directory: URL
    private let capacity: Int
    private var bytes = 0
    private var sizes: [(number: Int, bytes: Int)] = []
    private var first = 0

    init(at path: String, _ capacity: Int) throws {
      directory = URL(fileURLWithPath: path)
      self.capacity = capacity
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private func file(_ number: Int) -> URL { directory.appendingPathComponent("image \(number)") }

    func put(_ image: UnsafeRawBufferPointer, _ number: Int) throws {
      let whole = (image.count + 4095) & ~4095
      while bytes + whole > capacity {
        try FileManager.default.removeItem(at: file(sizes[first].number))
        bytes -= sizes[first].bytes
        first += 1
      }
      guard let base = UnsafeMutableRawPointer(mutating: image.baseAddress) else { return }
      try Data(bytesNoCopy: base, count: image.count, deallocator: .none).write(to: file(number), options: .atomic)
      sizes.append((number, whole))
      bytes += whole
    }

    func count() -> Int { sizes.count - first }
    func close() {}
  }
}
