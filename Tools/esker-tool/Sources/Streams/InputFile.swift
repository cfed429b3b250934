import Foundation

/// A file, standard input, or what another program prints, read sequentially.
struct InputFile: ~Copyable {
  /// The input's name for messages.
  let name: String

  private let descriptor: Int32
  private let isRegular: Bool
  private let gunzip: Gunzip?
  /// The program that writes it; its descriptor is its own.
  private let program: ForeignProgram?

  /// Opens the file at `path`; `-` is standard input.
  ///
  /// - Parameter gunzips: Whether to read what is in it, if it is compressed with gzip.
  init(_ path: String, gunzips: Bool = false) throws(ToolError) {
    program = nil
    if path == "-" {
      descriptor = STDIN_FILENO
      isRegular = Self.isRegular(STDIN_FILENO)
      name = "standard input"
      gunzip = gunzips ? Gunzip(name: name) : nil
      return
    }
    name = path
    gunzip = gunzips ? Gunzip(name: name) : nil
    descriptor = SystemCalls.open(path, O_RDONLY | O_CLOEXEC)
    let code = errno
    isRegular = Self.isRegular(descriptor)
    guard descriptor >= 0 else {
      throw code == ENOENT ? .noInput(path: path) : .system(operation: "open", path: path, errno: code)
    }
  }

  /// Reads what a program prints. That it failed is the error of the read that meets the end.
  ///
  /// - Parameter name: That of the file which the program reads.
  init(reading program: ForeignProgram, name: String) {
    self.name = name
    self.program = program
    descriptor = program.descriptor
    isRegular = false
    gunzip = nil
  }

  /// Reads what comes through a descriptor, and closes that at the end.
  ///
  /// - Parameter name: What the input is called in messages.
  init(descriptor: Int32, name: String) {
    self.name = name
    self.descriptor = descriptor
    program = nil
    isRegular = false
    gunzip = nil
  }

  private static func isRegular(_ descriptor: Int32) -> Bool {
    SystemCalls.status(of: descriptor).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
  }

  deinit {
    if descriptor != STDIN_FILENO, program == nil { close(descriptor) }
  }

  /// The number of bytes left, if the input is a regular file.
  var remainingBytes: Int? {
    guard isRegular, let status = SystemCalls.status(of: descriptor) else { return nil }
    let position = lseek(descriptor, 0, SEEK_CUR)
    return position < 0 ? nil : max(0, Int(status.st_size) - Int(position))
  }

  /// How many bytes were read of the file, if it is compressed; nil if what is read is what is in it.
  var compressedBytesRead: Int? { gunzip?.compressedBytesRead }

  /// Whether it can be read once more from its beginning.
  var isRepeatable: Bool { isRegular && descriptor != STDIN_FILENO }

  /// Reads some bytes into `buffer` starting at `start` and returns how many; 0 at the end.
  func read(into buffer: inout [UInt8], from start: Int) throws(ToolError) -> Int {
    guard let gunzip else { return try readFile(into: &buffer, from: start) }
    return try gunzip.read(into: &buffer, from: start) { (buffer, start) throws(ToolError) in
      try readFile(into: &buffer, from: start)
    }
  }

  private func readFile(into buffer: inout [UInt8], from start: Int) throws(ToolError) -> Int {
    while true {
      // A regular file never blocks; anything else may keep the command waiting.
      if !isRegular { try Interruption.waitReadable(descriptor) }
      let (count, code) = SystemCalls.read(descriptor, into: &buffer, from: start)
      if count == 0 { try program?.finish() }
      if count >= 0 { return count }
      if code != EINTR { throw .system(operation: "read", path: name, errno: code) }
    }
  }

  /// Reads everything; nil if there are more than `limit` bytes.
  func readAll(limit: Int) throws(ToolError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var filled = 0
    while true {
      if filled == bytes.count { bytes.append(contentsOf: repeatElement(0, count: bytes.count)) }
      let count = try read(into: &bytes, from: filled)
      filled += count
      if filled > limit { return nil }
      if count == 0 {
        bytes.removeSubrange(filled...)
        return bytes
      }
    }
  }
}
