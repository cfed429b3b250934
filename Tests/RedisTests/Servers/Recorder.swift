import EskerPlatform
import EskerRemote
import EskerTestSupport

/// A sink that notes what it is told, in order.
final class Recorder: RemoteSink {
  enum Event: Hashable {
    case changed(String, domain: UInt16, RemoteStamp)
    case raised(Range<UInt16>, UInt32)
    case trusted(Range<UInt16>, UInt32, RemoteInstant)
    case suspended(Range<UInt16>)
    case settled(UInt64, RemoteOutcome)
    case replied(String, RemoteStamp)
  }

  private let state = Guarded<[Event]>([])

  var events: [Event] { state.withLock { $0 } }
  var count: Int { state.withLock { $0.count } }

  func note(_ event: Event) { state.withLock { $0.append(event) } }

  func changed(_ key: RawSpan, domain: UInt16, at stamp: RemoteStamp) {
    note(.changed(key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }, domain: domain, stamp))
  }

  func raised(_ domains: Range<UInt16>, to generation: UInt32) { note(.raised(domains, generation)) }

  func trusted(_ domains: Range<UInt16>, in generation: UInt32, until instant: RemoteInstant) {
    note(.trusted(domains, generation, instant))
  }

  func suspended(_ domains: Range<UInt16>) { note(.suspended(domains)) }

  func settled(_ write: RemoteWriteID, _ outcome: RemoteOutcome) { note(.settled(write.number, outcome)) }

  /// Keys that were told to have changed, from a place on.
  func changes(from place: Int = 0) -> [String] {
    events.dropFirst(place).compactMap { if case .changed(let key, _, _) = $0 { key } else { nil } }
  }

  func hasRaised(_ domain: UInt16, from place: Int) -> Bool {
    events.dropFirst(place).contains { if case .raised(let range, _) = $0 { range.contains(domain) } else { false } }
  }

  func hasSuspended(_ domain: UInt16, from place: Int) -> Bool {
    events.dropFirst(place).contains { if case .suspended(let range) = $0 { range.contains(domain) } else { false } }
  }

  func hasTrusted(_ domain: UInt16, from place: Int) -> Bool {
    events.dropFirst(place).contains {
      if case .trusted(let range, _, _) = $0 { range.contains(domain) } else { false }
    }
  }

  /// What breaks the rules of order that every client keeps.
  func violations() -> [String] {
    var generations = [UInt32](repeating: 0, count: 16_384)
    var greatest: UInt32 = 0
    var last: [UInt32: UInt64] = [:]
    var found: [String] = []
    for event in events {
      switch event {
      case .raised(let range, let generation):
        if generation <= greatest { found.append("raised to \(generation) after \(greatest)") }
        greatest = generation
        for domain in range { generations[Int(domain)] = generation }
      case .trusted(let range, let generation, _):
        if range.contains(where: { generations[Int($0)] < generation }) {
          found.append("trusted \(generation) before raised")
        }
      case .changed(let key, let domain, let stamp):
        if stamp.generation != generations[Int(domain)] { found.append("\(key) changed in \(stamp.generation)") }
        if stamp.index < last[stamp.generation] ?? 0 { found.append("\(key) changed at \(stamp.index)") }
        last[stamp.generation] = stamp.index
      case .replied(let key, let stamp):
        if stamp.index <= last[stamp.generation] ?? 0 { found.append("\(key) replied at \(stamp.index)") }
        last[stamp.generation] = stamp.index
      case .suspended, .settled: break
      }
    }
    return found
  }
}
