#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Another process that writes to a store until this one kills it.
struct KilledWriter {
  /// The last operation of each thread that was acknowledged.
  private(set) var acknowledged: [UInt64]
  /// The signal that ended the process, or 0.
  private(set) var signal: Int32 = 0

  /// Where the package's executables are: beside the test bundle, or, where that is a directory, beside it.
  private static var executable: String? {
    var parts = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
    while parts.count > 1 {
      parts.removeLast()
      let candidate = parts.joined(separator: "/") + "/esker-crash-writer"
      if access(candidate, X_OK) == 0 { return candidate }
    }
    return nil
  }

  struct CannotRun: Error {
    var reason: String
  }

  /// Runs a writer on the store at `path` and kills it after that many microseconds.
  init(path: String, from starts: [UInt64], killedAfter microseconds: UInt32) throws {
    acknowledged = starts
    guard let executable = Self.executable else { throw CannotRun(reason: "esker-crash-writer is not built") }
    var pipes: [Int32] = [0, 0]
    guard pipe(&pipes) == 0 else { throw CannotRun(reason: "pipe: \(errno)") }
    let process = try Self.spawn(executable, [path] + starts.map { "\($0)" }, pipes)
    close(pipes[1])
    defer { close(pipes[0]) }
    let deadline = ContinuousClock.now + .microseconds(Int(microseconds))
    var isKilled = false
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var rest: [UInt8] = []
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      if left <= .zero, !isKilled {
        kill(process, SIGKILL)
        isKilled = true
      }
      var request = pollfd(fd: pipes[0], events: Int16(POLLIN), revents: 0)
      let wait = isKilled ? 1_000 : Int32(left / .milliseconds(1))
      guard poll(&request, 1, wait) > 0 else { continue }
      let count = read(pipes[0], &buffer, buffer.count)
      guard count > 0 else { break }
      rest += buffer[..<count]
      take(&rest)
    }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    signal = status & 0x7f
    if signal != SIGKILL {
      throw CannotRun(reason: "the writer ended by itself: \(String(decoding: rest, as: UTF8.self))")
    }
  }

  private static func spawn(_ executable: String, _ arguments: [String], _ pipes: [Int32]) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
    posix_spawn_file_actions_addclose(&actions, pipes[0])
    posix_spawn_file_actions_addclose(&actions, pipes[1])
    var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) }
    words.append(nil)
    defer { words.forEach { free($0) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, executable, &actions, nil, words, nil)
    guard code == 0 else { throw CannotRun(reason: "posix_spawn: \(code)") }
    return process
  }

  private mutating func take(_ bytes: inout [UInt8]) {
    var offset = 0
    while bytes.count - offset >= 16 {
      let (thread, number) = bytes.withUnsafeBytes { buffer in
        (
          buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
          buffer.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
        )
      }
      guard thread < acknowledged.count else { break }
      acknowledged[Int(thread)] = number
      offset += 16
    }
    bytes.removeFirst(offset)
  }
}
