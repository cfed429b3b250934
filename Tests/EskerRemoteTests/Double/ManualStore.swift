import EskerLog
import EskerPlatform
import Synchronization

@testable import EskerRemote

/// A store whose replies are given by the test, one by one.
final class ManualStore: RemoteStore, @unchecked Sendable {
  var gets: [RemoteCompletion<RemoteValue?>] = []
  var checks: [RemoteCompletion<RemoteChecked>] = []
  /// How many checks there are, for another thread to wait for.
  let checkCount = Atomic<Int>(0)
  var writes: [(id: RemoteWriteID, completion: RemoteCompletion<RemoteWritten>)] = []

  /// Writes fail with it before they return.
  var refusal: RemoteError?

  let domainCount = 1
  let valueLimit = 1 << 20

  func start(prefix: [UInt8], sink: any RemoteSink) async throws(RemoteError) {}

  func stop() async {}

  func domain(of key: RawSpan) -> UInt16 { 0 }

  func time(of domain: UInt16) -> ServerTime? { nil }

  func get(
    _ key: RemoteKey,
    from source: RemoteSource,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteValue?>
  ) { gets.append(completion) }

  func check(
    _ key: RemoteKey,
    _ version: RemoteVersion,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteChecked>
  ) {
    checks.append(completion)
    checkCount.add(1, ordering: .releasing)
  }

  func set(
    _ key: RemoteKey,
    _ value: RemoteValue,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) { add(write, completion) }

  func remove(
    _ key: RemoteKey,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) { add(write, completion) }

  func touch(
    _ key: RemoteKey,
    _ envelope: RemoteEnvelope,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) { add(write, completion) }

  func apply(
    _ key: RemoteKey,
    _ intent: RemoteIntent,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteApplied>
  ) { completion(.failure(.unsupported("replay"))) }

  private func add(_ write: RemoteWriteID, _ completion: @escaping RemoteCompletion<RemoteWritten>) {
    if let refusal { completion(.failure(refusal)) } else { writes.append((write, completion)) }
  }
}
