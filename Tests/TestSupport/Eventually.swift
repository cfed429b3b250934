#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How long a test waits for something that must happen: enough for the slowest machine under full load. After that it will
/// never happen, and the test fails instead of hanging.
private let patience = Duration.seconds(1200)

/// Waits until `condition` holds, on the calling thread; false if it never does.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + patience
  while try !condition() {
    guard ContinuousClock.now < end else { return false }
    usleep(1000)
  }
  return true
}

/// Like the above, but suspends the task meanwhile.
public func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  let end = ContinuousClock.now + patience
  while try !condition() {
    guard ContinuousClock.now < end else { return false }
    try await Task.sleep(for: .milliseconds(1))
  }
  return true
}
