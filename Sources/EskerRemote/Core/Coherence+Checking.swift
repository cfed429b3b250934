internal import EskerPlatform

// Checks of many copies for which nobody waits.
extension Coherence {
  /// A check of a copy that is no read: nobody joins it.
  private final class Check: FlightObject {}

  /// Checks copies in logs. Those that are current, and of which nothing was reported meanwhile, are known to be from then on.
  ///
  /// - Returns: How many are current; the first failure, if there was one.
  func check(
    _ copies: [(key: RemoteKey, version: RemoteVersion)],
    view: UInt64,
    by deadline: RemoteInstant
  ) async -> Result<Int, RemoteError> {
    if copies.isEmpty { return .success(0) }
    let flights = copies.map { board($0.key, view: view) { Check() }.new }
    let tally = Guarded(Tally(left: copies.count), .leaf)
    counters.asked.count(copies.count)
    return await withCheckedContinuation { continuation in
      store.check(several: copies, by: deadline) { [self] index, result in
        var isSame = false
        var failure: RemoteError?
        if let flight = flights[index] {
          switch answered(flight, copies[index].version, seen: copies[index].version, result) {
          case .success(.same): isSame = true
          case .success: break
          case .failure(let error): failure = error
          }
          leave(flight)
        }
        let outcome: Result<Int, RemoteError>? = tally.withLock { tally in
          tally.left -= 1
          tally.same += isSame ? 1 : 0
          tally.failure = tally.failure ?? failure
          guard tally.left == 0 else { return nil }
          return tally.failure.map { .failure($0) } ?? .success(tally.same)
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    }
  }

  private struct Tally {
    var left: Int
    var same = 0
    var failure: RemoteError?
  }
}
