import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How long a test waits for something that must happen: enough for the slowest machine under full load. After that it will
/// never happen, and the test fails instead of hanging. Once that was so, the run has failed, and others that are late do not make it
/// take hours.
private struct Patience {
  private static let isLost = Atomic<Bool>(false)
  private let start = ContinuousClock.now

  /// Whether it is over.
  var isOver: Bool {
    let isLost = Self.isLost.load(ordering: .relaxed)
    guard ContinuousClock.now - start > .seconds(isLost ? 60 : 1200) else { return false }
    Self.isLost.store(true, ordering: .relaxed)
    return true
  }
}

/// Waits until `condition` holds, on the calling thread; false if it never does.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let patience = Patience()
  while try !condition() {
    guard !patience.isOver else { return false }
    usleep(1000)
  }
  return true
}

/// Like the above, but suspends the task meanwhile.
public func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  let patience = Patience()
  while try !condition() {
    guard !patience.isOver else { return false }
    try await Task.sleep(for: .milliseconds(1))
  }
  return true
}
