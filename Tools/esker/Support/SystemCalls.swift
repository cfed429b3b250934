import Foundation

/// Calls to the operating system: what C offers, without its pointers. After a failure `errno` says why.
///
/// Safety: these calls take pointers to paths, which Swift ends with a zero and keeps during the call, to locals that they
/// fill, and to buffers whose length they are told.
enum SystemCalls {
  /// The descriptor, negative when there is none.
  static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    unsafe Foundation.open(path, flags, mode)
  }

  /// What stands at a path; nil when nothing does or it cannot be looked at.
  static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status : nil
  }

  static func status(of descriptor: Int32) -> stat? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }

  static func remove(_ path: String) {
    unsafe unlink(path)
  }

  /// Makes a directory of its own, choosing the last six letters of its name; nil on failure.
  static func makeDirectory(_ template: String) -> String? {
    var name = Array(template.utf8CString)
    guard unsafe mkdtemp(&name) != nil else { return nil }
    return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Writes as much as fits; returns how much, and the error number.
  static func write(_ bytes: RawSpan, to descriptor: Int32) -> (count: Int, code: Int32) {
    unsafe bytes.withUnsafeBytes { buffer in
      let count = unsafe Foundation.write(descriptor, buffer.baseAddress, buffer.count)
      return (count, errno)
    }
  }

  /// Reads what is there into the bytes from `start` on; returns how much, and the error number.
  static func read(_ descriptor: Int32, into bytes: inout [UInt8], from start: Int) -> (count: Int, code: Int32) {
    precondition(start >= 0 && start <= bytes.count)
    return unsafe bytes.withUnsafeMutableBytes { buffer in
      let count = unsafe Foundation.read(descriptor, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start)
      return (count, errno)
    }
  }

  /// Waits until one of the descriptors can be read, at most so many milliseconds; -1 waits for ever.
  static func waitReadable(_ descriptors: [Int32], milliseconds: Int32) {
    var waits = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = unsafe poll(&waits, nfds_t(waits.count), milliseconds)
  }

  /// The two ends of a new pipe; nil on failure.
  static func makePipe() -> (readEnd: Int32, writeEnd: Int32)? {
    var ends: [Int32] = [-1, -1]
    return unsafe pipe(&ends) == 0 ? (ends[0], ends[1]) : nil
  }

  /// The size of the terminal behind a descriptor; nil when there is none.
  static func windowSize(of descriptor: Int32) -> winsize? {
    var size = winsize()
    return unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
  }
}
