#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A process of a round: this program, with other arguments.
struct ChildProcess {
  enum State: Equatable {
    case running
    case exited(Int32)
    case signalled(Int32)
  }

  let name: String
  private let process: pid_t
  private(set) var state = State.running
  private(set) var wasKilled = false

  struct CannotRun: Error {
    var reason: String
  }

  /// - Parameter program: another program than this one; its arguments begin with its name.
  init(_ name: String, _ arguments: [String], program: String? = nil) throws {
    self.name = name
    let all = program == nil ? [CommandLine.arguments[0]] + arguments : arguments
    var words: [UnsafeMutablePointer<CChar>?] = all.map { strdup($0) }
    words.append(nil)
    defer { words.forEach { free($0) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, program ?? CommandLine.arguments[0], nil, nil, words, environ)
    guard code == 0 else { throw CannotRun(reason: "posix_spawn: \(code)") }
    self.process = process
  }

  /// Looks whether it has ended.
  mutating func poll() -> State {
    wait(WNOHANG)
    return state
  }

  /// Waits until it has ended.
  mutating func join() -> State {
    wait(0)
    return state
  }

  /// Ends it at once, as a crash does.
  mutating func kill() {
    guard state == .running else { return }
    wasKilled = true
    _ = signalProcess(process, SIGKILL)
    wait(0)
  }

  private mutating func wait(_ options: Int32) {
    guard state == .running else { return }
    var status: Int32 = 0
    var found = waitpid(process, &status, options)
    while found == -1, errno == EINTR { found = waitpid(process, &status, options) }
    guard found == process else { return }
    let signal = status & 0x7f
    state = signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }
}

private func signalProcess(_ process: pid_t, _ signal: Int32) -> Int32 {
  kill(process, signal)
}
