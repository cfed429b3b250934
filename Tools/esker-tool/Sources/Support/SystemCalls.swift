import Foundation

/// System calls without C pointers. After a failure `errno` says why.
///
/// Safety: these calls take pointers to paths, which Swift ends with a zero and keeps during the call, to locals that they
/// fill, to addresses that are freed behind their use, and to buffers whose length they are told.
enum SystemCalls {
  /// Returns the descriptor, or a negative number on failure.
  static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    unsafe Foundation.open(path, flags, mode)
  }

  /// The status of the file at a path; nil if there is none or it is not accessible.
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

  /// Removes a directory, which must be empty.
  static func removeDirectory(_ path: String) {
    unsafe rmdir(path)
  }

  /// Runs a line of shell on the same terminal, which alone gets its signals meanwhile; returns its exit code, or 128 plus the number
  /// of the signal that ended it.
  static func run(shell line: String) -> Int32 {
    signal(SIGPIPE, SIG_DFL)
    defer { signal(SIGPIPE, SIG_IGN) }
    let status = unsafe system(line)
    guard status >= 0 else { return 127 }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// Creates a directory whose name has a unique suffix of six characters; nil on failure.
  static func makeDirectory(_ template: String) -> String? {
    var name = Array(template.utf8CString)
    guard unsafe mkdtemp(&name) != nil else { return nil }
    return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Writes as many bytes as possible; returns how many, and the error number.
  static func write(_ bytes: RawSpan, to descriptor: Int32) -> (count: Int, code: Int32) {
    unsafe bytes.withUnsafeBytes { buffer in
      let count = unsafe Foundation.write(descriptor, buffer.baseAddress, buffer.count)
      return (count, errno)
    }
  }

  /// Reads available bytes into the array starting at `start`; returns how many, and the error number.
  static func read(_ descriptor: Int32, into bytes: inout [UInt8], from start: Int) -> (count: Int, code: Int32) {
    precondition(start >= 0 && start <= bytes.count)
    return unsafe bytes.withUnsafeMutableBytes { buffer in
      let count = unsafe Foundation.read(descriptor, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start)
      return (count, errno)
    }
  }

  /// Waits until one of the descriptors can be read, or `milliseconds` have passed; -1 waits forever. False if none can.
  @discardableResult
  static func waitReadable(_ descriptors: [Int32], milliseconds: Int32) -> Bool {
    var waits = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    return unsafe poll(&waits, nfds_t(waits.count), milliseconds) > 0
  }

  /// Whether nobody reads any more what is written to a pipe, a socket or a terminal.
  static func isHungUp(_ descriptor: Int32) -> Bool {
    var wait = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&wait, 1, 0) > 0 && Int32(wait.revents) & (POLLERR | POLLHUP) != 0
  }

  /// Connects to a port of a host, whose addresses are tried one after the other.
  ///
  /// - Returns: The descriptor, or a negative number and why the last address failed; nil if the host is not known.
  static func connect(_ host: String, port: Int) -> (descriptor: Int32, code: Int32)? {
    var hints = unsafe addrinfo()
    #if canImport(Glibc)
      unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      unsafe hints.ai_socktype = SOCK_STREAM
    #endif
    var found: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, "\(port)", &hints, &found) == 0 else { return nil }
    defer { unsafe freeaddrinfo(found) }
    var code = ENOENT
    var next = unsafe found
    while let address = unsafe next {
      let descriptor = unsafe socket(
        address.pointee.ai_family,
        address.pointee.ai_socktype,
        address.pointee.ai_protocol
      )
      code = errno
      if descriptor >= 0 {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if unsafe Foundation.connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 {
          return (descriptor, 0)
        }
        code = errno
        close(descriptor)
      }
      unsafe next = unsafe address.pointee.ai_next
    }
    return (-1, code)
  }

  static func rename(_ path: String, to other: String) -> Bool {
    unsafe Foundation.rename(path, other) == 0
  }

  /// The two ends of a new pipe; nil on failure.
  static func makePipe() -> (readEnd: Int32, writeEnd: Int32)? {
    var ends: [Int32] = [-1, -1]
    return unsafe pipe(&ends) == 0 ? (ends[0], ends[1]) : nil
  }

  /// How a terminal treats what is typed; nil if it is not a terminal.
  static func terminalMode(of descriptor: Int32) -> termios? {
    var mode = termios()
    return unsafe tcgetattr(descriptor, &mode) == 0 ? mode : nil
  }

  /// Sets it, once what was written has been shown.
  static func setTerminalMode(_ mode: termios, of descriptor: Int32) {
    var mode = mode
    _ = unsafe tcsetattr(descriptor, TCSADRAIN, &mode)
  }

  /// The mode in which each key is passed on as it is typed, and nothing is shown by the terminal itself. Lines are still written
  /// as usual.
  static func keyMode(from mode: termios) -> termios {
    var mode = mode
    unsafe cfmakeraw(&mode)
    mode.c_oflag |= tcflag_t(OPOST)
    return mode
  }

  /// The size of a descriptor's terminal; nil if it is not a terminal.
  static func windowSize(of descriptor: Int32) -> winsize? {
    var size = winsize()
    return unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
  }
}
