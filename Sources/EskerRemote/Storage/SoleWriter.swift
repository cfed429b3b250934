/// Whether the one task that writes what waits is running, and who waits until it never will again. Part of a state under a lock.
struct SoleWriter {
  /// Whether nothing may be added any more.
  private(set) var isClosed = false
  private var isRunning = false
  private var closers: [CheckedContinuation<Void, Never>] = []

  /// Something was added; whether the task must be started for it.
  mutating func start() -> Bool {
    defer { isRunning = true }
    return !isRunning
  }

  /// Nothing waits any more, and the task ends; who is to be resumed.
  mutating func end() -> [CheckedContinuation<Void, Never>] {
    isRunning = false
    defer { closers = [] }
    return closers
  }

  /// Lets nothing be added any more. Whether the task has ended; otherwise the caller is resumed once it has.
  mutating func close(_ closer: CheckedContinuation<Void, Never>) -> Bool {
    isClosed = true
    if isRunning { closers.append(closer) }
    return !isRunning
  }
}
