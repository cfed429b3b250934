import Synchronization

@testable import EskerRemote

/// Errors that are planted to see whether the checker finds them: in the core, and in the client by what stands between both.
enum Plant: String, CaseIterable {
  // In the core.
  case noFence, keepEpoch, trustAtSend
  // In the client: a lease that never ends, and one change of several that is not told.
  case endlessLease, missedChange

  var faults: PlantedFaults {
    switch self {
    case .noFence: .noFence
    case .keepEpoch: .keepEpoch
    case .trustAtSend: .trustAtSend
    case .endlessLease, .missedChange: []
    }
  }
}

/// A store that tells less than it should, or promises more.
final class PlantedStore: RemoteStore {
  private let store: any RemoteStore
  private let plant: Plant

  init(_ store: any RemoteStore, _ plant: Plant) {
    self.store = store
    self.plant = plant
  }

  func start(prefix: [UInt8], sink: any RemoteSink) async throws(RemoteError) {
    try await store.start(prefix: prefix, sink: PlantedSink(sink, plant))
  }

  var domainCount: Int { store.domainCount }
  var valueLimit: Int { store.valueLimit }
  func stop() async { await store.stop() }
  func domain(of key: RawSpan) -> UInt16 { store.domain(of: key) }
  func time(of domain: UInt16) -> ServerTime? { store.time(of: domain) }

  func get(
    _ key: RemoteKey,
    from source: RemoteSource,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteValue?>
  ) {
    store.get(key, from: source, by: deadline, then: completion)
  }

  func check(
    _ key: RemoteKey,
    _ version: RemoteVersion,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteChecked>
  ) {
    store.check(key, version, by: deadline, then: completion)
  }

  func set(
    _ key: RemoteKey,
    _ value: RemoteValue,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) {
    store.set(key, value, if: condition, as: write, by: deadline, then: completion)
  }

  func remove(
    _ key: RemoteKey,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) {
    store.remove(key, if: condition, as: write, by: deadline, then: completion)
  }

  func touch(
    _ key: RemoteKey,
    _ envelope: RemoteEnvelope,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  ) {
    store.touch(key, envelope, if: condition, as: write, by: deadline, then: completion)
  }

  func apply(
    _ key: RemoteKey,
    _ intent: RemoteIntent,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteApplied>
  ) {
    store.apply(key, intent, as: write, by: deadline, then: completion)
  }
}

private final class PlantedSink: RemoteSink {
  private let sink: any RemoteSink
  private let plant: Plant
  private let changes = Atomic(0)

  init(_ sink: any RemoteSink, _ plant: Plant) {
    self.sink = sink
    self.plant = plant
  }

  func changed(_ key: RawSpan, domain: UInt16, at stamp: RemoteStamp) {
    if plant == .missedChange, changes.wrappingAdd(1, ordering: .relaxed).newValue % 50 == 0 { return }
    sink.changed(key, domain: domain, at: stamp)
  }

  func raised(_ domains: Range<UInt16>, to generation: UInt32) { sink.raised(domains, to: generation) }

  func trusted(_ domains: Range<UInt16>, in generation: UInt32, until instant: RemoteInstant) {
    sink.trusted(domains, in: generation, until: plant == .endlessLease ? .distantFuture : instant)
  }

  func suspended(_ domains: Range<UInt16>) { if plant != .endlessLease { sink.suspended(domains) } }

  func settled(_ write: RemoteWriteID, _ outcome: RemoteOutcome) { sink.settled(write, outcome) }
}
