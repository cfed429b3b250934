import Foundation
import Synchronization

/// Lets ctrl-C and a request to end stop a command between two records instead of in the middle of one.
///
/// The first signal is noted; a second one ends the process as it would have without this.
enum Interruption {
  private static let received = Atomic<Int32>(0)
  private static let wakeup = Atomic<Int32>(-1)

  /// The signals that ask a process to end.
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  /// Begins to note signals. Called once, by a command that goes on to ask for them.
  static func install() {
    var ends: [Int32] = [-1, -1]
    guard received.load(ordering: .relaxed) == 0, pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    readEnd.store(ends[0], ordering: .relaxed)
    wakeup.store(ends[1], ordering: .relaxed)
    var noted = sigset_t()
    sigemptyset(&noted)
    for number in signals {
      // One that the parent had ignored, as `nohup` does, stays ignored.
      let previous = signal(number, SIG_IGN)
      if unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
      signal(number) { number in Interruption.note(number) }
      sigaddset(&noted, number)
    }
    // A parent with threads may have started this process with all signals held back.
    pthread_sigmask(SIG_UNBLOCK, &noted, nil)
  }

  private static let readEnd = Atomic<Int32>(-1)

  /// Runs in the handler: nothing but atomics and system calls.
  private static func note(_ number: Int32) {
    received.store(number, ordering: .relaxed)
    signal(number, SIG_DFL)
    var byte: UInt8 = 0
    _ = write(wakeup.load(ordering: .relaxed), &byte, 1)
  }

  /// The signal that came, if one did.
  static var signalNumber: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  static var isRequested: Bool { received.load(ordering: .relaxed) != 0 }

  /// Throws if a signal came.
  static func check() throws(ToolError) {
    if let signalNumber { throw .interrupted(signal: signalNumber) }
  }

  /// Waits until `descriptor` can be read, but no longer than until a signal comes.
  static func waitReadable(_ descriptor: Int32) throws(ToolError) {
    let wakeup = readEnd.load(ordering: .relaxed)
    guard wakeup >= 0 else { return }
    var waits = [descriptor, wakeup].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = poll(&waits, 2, -1)
    try check()
  }

  /// Waits so long, or until a signal comes; false when one came.
  static func sleep(_ duration: Duration) -> Bool {
    let wakeup = readEnd.load(ordering: .relaxed)
    var wait = pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0)
    let end = ContinuousClock.now + duration
    while !isRequested {
      let left = (end - ContinuousClock.now).seconds
      guard left > 0 else { return true }
      _ = poll(&wait, wakeup >= 0 ? 1 : 0, Int32(max(1, min(left * 1000, 1e9))))
    }
    return false
  }
}
