import Foundation

/// Writes to a file descriptor through a large buffer.
///
/// The user must end with ``finish()`` or ``flush()``: anything still in the buffer when the stream is destroyed is lost.
struct BufferedOutput: ~Copyable {
  private let descriptor: Int32
  private let name: String
  private let capacity: Int
  private let gzip: Gzip?
  private var buffer: [UInt8] = []

  /// - Parameter gzip: Compresses what is written, which then must end with ``finish()``.
  init(descriptor: Int32, name: String, capacity: Int = 1 << 16, gzip: Gzip? = nil) {
    self.gzip = gzip
    self.descriptor = descriptor
    self.name = name
    self.capacity = capacity
    buffer.reserveCapacity(capacity)
  }

  static func standard() -> BufferedOutput {
    BufferedOutput(descriptor: STDOUT_FILENO, name: "standard output")
  }

  /// Whether the output is a terminal.
  var isTerminal: Bool { isatty(descriptor) == 1 }

  mutating func write(_ text: String) throws(ToolError) {
    try write(Array(text.utf8))
  }

  mutating func write(_ bytes: [UInt8]) throws(ToolError) {
    try bytes.lend(0..<bytes.count) { (bytes) throws(ToolError) in try write(bytes) }
  }

  mutating func write(_ bytes: RawSpan) throws(ToolError) {
    if buffer.count + bytes.byteCount > capacity { try flush() }
    if bytes.byteCount >= capacity {
      try writeThrough(bytes)
    } else {
      buffer.append(contentsOf: bytes)
    }
  }

  /// Writes what is left, and ends a compressed stream.
  mutating func finish() throws(ToolError) {
    try flush()
    let none: [UInt8] = []
    guard let gzip else { return }
    try none.lend(0..<0) { (none) throws(ToolError) in
      try gzip.compress(none, isLast: true) { (bytes) throws(ToolError) in try writeFile(bytes) }
    }
  }

  /// Passes everything to the operating system, or to the compression.
  mutating func flush() throws(ToolError) {
    guard !buffer.isEmpty else { return }
    try buffer.lend(0..<buffer.count) { (bytes) throws(ToolError) in try writeThrough(bytes) }
    buffer.removeAll(keepingCapacity: true)
  }

  private func writeThrough(_ bytes: RawSpan) throws(ToolError) {
    guard let gzip else { return try writeFile(bytes) }
    try gzip.compress(bytes, isLast: false) { (bytes) throws(ToolError) in try writeFile(bytes) }
  }

  private func writeFile(_ bytes: RawSpan) throws(ToolError) {
    var done = 0
    while done < bytes.byteCount {
      let (written, code) = SystemCalls.write(bytes.extracting(done..<bytes.byteCount), to: descriptor)
      if written >= 0 {
        done += written
      } else if code == EPIPE {
        throw .outputClosed
      } else if code != EINTR {
        throw .system(operation: "write to", path: name, errno: code)
      }
    }
  }
}
