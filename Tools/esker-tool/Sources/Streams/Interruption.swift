import Foundation
import Synchronization

/// Lets Ctrl-C or a termination signal stop a command between two records instead of in the middle of one.
///
/// The first signal is recorded; a second one ends the process as usual.
enum Interruption {
  // Relaxed: plain numbers, through which nothing is read. A signal handler may use little else.
  private static let received = Atomic<Int32>(0)
  private static let wakeup = Atomic<Int32>(-1)

  /// The signals that request termination.
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  /// Starts recording signals. Called by a command that will check for them; later calls do nothing.
  static func install() {
    guard readEnd.load(ordering: .relaxed) < 0, let ends = SystemCalls.makePipe() else { return }
    for end in [ends.readEnd, ends.writeEnd] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    readEnd.store(ends.readEnd, ordering: .relaxed)
    wakeup.store(ends.writeEnd, ordering: .relaxed)
    // Safety: these calls change a local. The handlers are only compared, as numbers.
    var noted = sigset_t()
    unsafe sigemptyset(&noted)
    for number in signals {
      // A signal that the parent ignored, as with `nohup`, stays ignored.
      let previous = signal(number, SIG_IGN)
      if unsafe unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
      signal(number) { number in Interruption.note(number) }
      unsafe sigaddset(&noted, number)
    }
    // A parent with threads may have started this process with all signals blocked.
    unsafe pthread_sigmask(SIG_UNBLOCK, &noted, nil)
  }

  private static let readEnd = Atomic<Int32>(-1)

  /// Runs in the handler: nothing but atomics and system calls.
  private static func note(_ number: Int32) {
    received.store(number, ordering: .relaxed)
    signal(number, SIG_DFL)
    // Safety: the call reads one byte of a local.
    var byte: UInt8 = 0
    _ = unsafe write(wakeup.load(ordering: .relaxed), &byte, 1)
  }

  /// Forgets a signal that has been answered, and records the next one.
  static func rearm() {
    guard let number = signalNumber else { return }
    received.store(0, ordering: .relaxed)
    let wakeup = readEnd.load(ordering: .relaxed)
    var noted: [UInt8] = [0]
    while SystemCalls.waitReadable([wakeup], milliseconds: 0) { _ = SystemCalls.read(wakeup, into: &noted, from: 0) }
    signal(number) { number in Interruption.note(number) }
  }

  /// The signal received, if any.
  static var signalNumber: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  static var isRequested: Bool { received.load(ordering: .relaxed) != 0 }

  /// Says something if a signal is received while `body` runs, and that does not end a moment later.
  static func saying<R>(_ message: String, isQuiet: Bool, while body: () throws -> R) rethrows -> R {
    guard !isQuiet else { return try body() }
    let end = End()
    defer { end.isReached.store(true, ordering: .relaxed) }
    Thread.detachNewThread {
      while !isRequested, !end.isReached.load(ordering: .relaxed) { _ = sleep(.seconds(1)) }
      usleep(300_000)
      if !end.isReached.load(ordering: .relaxed) { StandardError.report(message) }
    }
    return try body()
  }

  private final class End: Sendable {
    // Relaxed: nothing else goes with it.
    let isReached = Atomic(false)
  }

  /// Throws if a signal was received.
  static func check() throws(ToolError) {
    if let signalNumber { throw .interrupted(signal: signalNumber) }
  }

  /// Waits until `descriptor` can be read or a signal is received.
  static func waitReadable(_ descriptor: Int32) throws(ToolError) {
    let wakeup = readEnd.load(ordering: .relaxed)
    guard wakeup >= 0 else { return }
    SystemCalls.waitReadable([descriptor, wakeup], milliseconds: -1)
    try check()
  }

  /// Waits for a duration, or until a signal is received; false in that case.
  static func sleep(_ duration: Duration) -> Bool {
    let wakeup = readEnd.load(ordering: .relaxed)
    let end = ContinuousClock.now + duration
    while !isRequested {
      let left = (end - ContinuousClock.now).seconds
      guard left > 0 else { return true }
      SystemCalls.waitReadable(wakeup >= 0 ? [wakeup] : [], milliseconds: Int32(max(1, min(left * 1000, 1e9))))
    }
    return false
  }
}
