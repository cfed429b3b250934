import Esker
import EskerTestSupport
import Testing

/// Everything that suspends can be called from any actor, also with what may not leave it.
@Suite struct IsolationTests {
  @Test @MainActor func ofTheMainActor() async throws {
    for call in [
      { try await $0.readBytes() }, { try await $0.writeBytes() }, { try await $0.writeMuch() },
      { try await $0.readValues() }, { try await $0.writeValues() }, { try await $0.useOneKey() },
      { try await $0.useMaps() },
    ] as [@MainActor (MainActorCalls) async throws -> Void] {
      try await withTemporaryStore { @Sendable store in try await call(try await MainActorCalls(store)) }
    }
  }

  @Test func ofAnActor() async throws {
    for call in [
      { try await $0.readBytes() }, { try await $0.writeBytes() }, { try await $0.writeMuch() },
      { try await $0.readValues() }, { try await $0.writeValues() }, { try await $0.useOneKey() },
      { try await $0.useMaps() },
    ] as [@Sendable (ActorCalls) async throws -> Void] {
      try await withTemporaryStore { store in try await call(try ActorCalls(store)) }
    }
  }
}

/// Bytes that may not be sent.
final class Name: ByteSource {
  let bytes: [UInt8]

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R { try bytes.withBytes(body) }
}

/// A state that may not be sent.
final class Tally {
  var count = 0
}
