import EskerLog
import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What must not grow.
enum SoakFigure: Int, CaseIterable {
  /// Memory that belongs to no file, in MiB.
  case memory
  case descriptors, mappings, threads
  /// In MiB.
  case disk
  /// Quantiles of an interval, in microseconds.
  case putMedian, putTail, getMedian, getTail

  var title: String {
    switch self {
    case .memory: "memory, MiB"
    case .descriptors: "descriptors"
    case .mappings: "mappings"
    case .threads: "threads"
    case .disk: "disk, MiB"
    case .putMedian: "put p50, us"
    case .putTail: "put p99, us"
    case .getMedian: "get p50, us"
    case .getTail: "get p99, us"
    }
  }

  /// By how much the end may exceed the beginning; nil for times, which other programs change, too.
  var slack: Double? {
    switch self {
    case .memory: 8
    case .descriptors: 4
    case .mappings: 32
    case .threads: 2
    case .disk: 16
    case .putMedian, .putTail, .getMedian, .getTail: nil
    }
  }
}

/// Measures this process and the stores in a directory.
struct SoakProbe {
  private let directory: String
  private let store: LogStore
  private var puts = Statistics.Histogram()
  private var gets = Statistics.Histogram()

  init(_ directory: String, _ store: LogStore) {
    self.directory = directory
    self.store = store
  }

  /// A number for each figure.
  mutating func sample() throws -> [Double] {
    let statistics = store.statistics
    let (puts, gets) = (statistics.puts.since(puts), statistics.gets.since(gets))
    (self.puts, self.gets) = (statistics.puts, statistics.gets)
    return [
      Self.anonymousMemory() / 1024, Double(Self.count("/proc/self/fd")), Double(Self.lines("/proc/self/maps")),
      Double(Self.count("/proc/self/task")), Double(Self.allocated(directory)) / Double(1 << 20),
    ]
      + [puts.quantile(0.5), puts.quantile(0.99), gets.quantile(0.5), gets.quantile(0.99)].map { $0 / .microseconds(1) }
  }

  private static func text(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func anonymousMemory() -> Double {
    let line = text("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line.flatMap { Double($0.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") } ?? 0
  }

  private static func lines(_ path: String) -> Int { text(path).utf8.count { $0 == UInt8(ascii: "\n") } }

  private static func count(_ path: String) -> Int { (try? OSFileSystem().list(path).count) ?? 0 }

  /// The bytes that files take, not those that they seem to have.
  private static func allocated(_ path: String) -> Int {
    var status = stat()
    guard lstat(path, &status) == 0 else { return 0 }
    guard status.st_mode & S_IFMT == S_IFDIR else { return Int(status.st_blocks) * 512 }
    return ((try? OSFileSystem().list(path)) ?? []).reduce(0) { $0 + allocated("\(path)/\($1)") }
  }
}
