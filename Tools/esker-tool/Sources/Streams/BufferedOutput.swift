import Foundation

/// Writes to a file descriptor through a large buffer.
///
/// The user must end with ``finish()`` or ``flush()``: anything still in the buffer when the stream is destroyed is lost.
struct BufferedOutput: ~Copyable {
  private let descriptor: Int32
  private let name: String
  private let gzip: Gzip?
  /// What was not passed on yet.
  var buffer: OutputBuffer
  /// Bytes that were passed on.
  private var flushed = 0

  /// Enough that the calls of the system do not count.
  static let largeCapacity = 1 << 18

  /// - Parameter gzip: Compresses what is written, which then must end with ``finish()``.
  init(descriptor: Int32, name: String, capacity: Int = 1 << 16, gzip: Gzip? = nil) {
    self.gzip = gzip
    self.descriptor = descriptor
    self.name = name
    buffer = OutputBuffer(capacity: capacity)
  }

  static func standard() -> BufferedOutput {
    BufferedOutput(descriptor: STDOUT_FILENO, name: "standard output", capacity: largeCapacity)
  }

  /// Writes to standard output.
  static func print(_ text: String) throws(ToolError) { try print(Array(text.utf8)) }

  /// Writes to standard output.
  static func print(_ bytes: [UInt8]) throws(ToolError) {
    var output = standard()
    try output.write(bytes)
    try output.flush()
  }

  /// Bytes written so far, before compression.
  var byteCount: Int { flushed + buffer.count }

  /// Whether the output is a terminal.
  var isTerminal: Bool { isatty(descriptor) == 1 }

  mutating func write(_ text: String) throws(ToolError) {
    try write(Array(text.utf8))
  }

  mutating func write(_ bytes: [UInt8]) throws(ToolError) {
    try bytes.lend(0..<bytes.count) { (bytes) throws(ToolError) in try write(bytes) }
  }

  mutating func write(_ bytes: RawSpan) throws(ToolError) {
    if bytes.byteCount > buffer.room { try flush() }
    if bytes.byteCount >= buffer.capacity {
      flushed += bytes.byteCount
      try writeThrough(bytes)
    } else {
      buffer.append(bytes)
    }
  }

  /// Makes room for something that is added to ``buffer`` in place; false if no buffer has as much.
  @inline(__always)
  mutating func makeRoom(_ room: Int) throws(ToolError) -> Bool {
    guard room <= buffer.capacity else { return false }
    if room > buffer.room { try flush() }
    return true
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
    try buffer.lend { (bytes) throws(ToolError) in try writeThrough(bytes) }
    flushed += buffer.count
    buffer.removeAll()
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
