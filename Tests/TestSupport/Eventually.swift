#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How long a test waits for what must come: for the slowest machine, with everything else running beside it. Then it will
/// never come, and the test fails instead of hanging.
private let patience = Duration.seconds(1200)

/// Waits until `condition` holds, on the calling thread; false if it never does.
///
/// Nothing depends on how long that takes.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + patience
  while try !condition() {
    guard ContinuousClock.now < end else { return false }
    usleep(1000)
  }
  return true
}

/// As above, suspending the task meanwhile.
public func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  let end = ContinuousClock.now + patience
  while try !condition() {
    guard ContinuousClock.now < end else { return false }
    try await Task.sleep(for: .milliseconds(1))
  }
  return true
}
