#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// One of the package's executables, run in a process of its own: what it does cannot take the tests along.
struct ChildProgram {
  /// What it wrote to standard output.
  private(set) var output = ""
  /// The signal that ended it, or 0.
  private(set) var signal: Int32 = 0
  /// Its exit code, when no signal ended it.
  private(set) var code: Int32 = 0

  struct CannotRun: Error {
    var reason: String
  }

  /// Runs it to its end.
  init(_ name: String, _ arguments: [String]) throws {
    let (process, pipe) = try Self.start(name, arguments)
    defer { close(pipe) }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var bytes: [UInt8] = []
    while true {
      let count = read(pipe, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    output = String(decoding: bytes, as: UTF8.self)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    signal = status & 0x7f
    code = status >> 8 & 0xff
  }

  /// The last lines of its output.
  func lastLines(_ count: Int) -> String {
    output.split(separator: "\n").suffix(count).map { String($0.prefix(400)) }.joined(separator: "\n")
  }

  /// Starts it; the process, and where its standard output can be read.
  static func start(_ name: String, _ arguments: [String]) throws -> (process: pid_t, output: Int32) {
    guard let executable = path(of: name) else { throw CannotRun(reason: "\(name) is not built") }
    var pipes: [Int32] = [0, 0]
    guard pipe(&pipes) == 0 else { throw CannotRun(reason: "pipe: \(errno)") }
    defer { close(pipes[1]) }
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
    guard code == 0 else {
      close(pipes[0])
      throw CannotRun(reason: "posix_spawn: \(code)")
    }
    return (process, pipes[0])
  }

  /// Where the package's executables are: beside the test bundle, or, where that is a directory, beside it.
  private static func path(of name: String) -> String? {
    var parts = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
    while parts.count > 1 {
      parts.removeLast()
      let candidate = parts.joined(separator: "/") + "/" + name
      if access(candidate, X_OK) == 0 { return candidate }
    }
    return nil
  }
}
