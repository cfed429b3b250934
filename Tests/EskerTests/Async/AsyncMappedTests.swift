import Esker
import Testing

@Suite struct AsyncMappedTests {
  private struct Refusal: Error {}

  private let base = DictionaryStorage(["a": 1], mayBlock: true)

  @Test func valuesAndKeysAreTurnedByFunctionsThatSuspend() async throws {
    let mapped = base.async
      .mapValues(to: String.self) { (value: Int) async throws -> String in
        await Task.yield()
        return "\(value)"
      } from: { (text: String) async throws -> Int in
        await Task.yield()
        return Int(text) ?? -1
      }
      .mapKeys { (key: Character) async throws -> String in
        await Task.yield()
        return String(key)
      }
      .mapValues(to: [Character].self) {
        Array($0)
      } from: {
        String($0)
      }
    #expect(try await mapped.value(forKey: "a") == ["1"])
    try await mapped.set(["1", "2"], forKey: "b", expiry: .at(WallTime(millisecondsSince1970: 9_000_000_000_000)))
    #expect(base.all == ["a": 1, "b": 12])
    let entry = try #require(try await mapped.entry(forKey: "b"))
    #expect(entry.value == ["1", "2"] && entry.expiry == .at(WallTime(millisecondsSince1970: 9_000_000_000_000)))
    #expect(try await mapped.contains("b"))
    #expect(try await mapped.removeValue(forKey: "b"))
    #expect(try await mapped.value(forKey: "b") == nil)
    #expect(base.all == ["a": 1])
  }

  @Test func mapThatThrowsIsAPreciseErrorAndChangesNothing() async throws {
    let values = base.async.mapValues(to: Int.self) { _ in
      throw Refusal()
    } from: { _ in
      throw Refusal()
    }
    await #expect { try await values.value(forKey: "a") } throws: { error in
      guard case .decoding("a", "dictionary", "Int", let underlying) = error as? StorageError else { return false }
      return underlying is Refusal
    }
    await #expect { try await values.set(2, forKey: "a") } throws: { error in
      guard case .encoding("dictionary", "Int", let underlying) = error as? StorageError else { return false }
      return underlying is Refusal
    }
    let keys = base.async.mapKeys { (_: Int) async throws -> String in throw Refusal() }
    await #expect { try await keys.set(2, forKey: 7) } throws: { error in
      guard case .key("7", "dictionary", let underlying) = error as? StorageError else { return false }
      return underlying is Refusal
    }
    #expect(base.all == ["a": 1] && base.writes == 0)
  }

  @Test func mapThatIsCancelledCancelsTheCall() async throws {
    let base = base
    let mapped = base.async.mapValues { (value: Int) async throws -> Int in
      value
    } from: { (value: Int) async throws -> Int in
      while true {
        try Task.checkCancellation()
        await Task.yield()
      }
    }
    let write = Task { try await mapped.set(2, forKey: "a") }
    write.cancel()
    await #expect { try await write.value } throws: { error in
      if case .cancelled = error as? StorageError { true } else { false }
    }
    #expect(base.all == ["a": 1])
  }

  /// As one does that calls another storage.
  @Test func mapThatThrowsThatItWasCancelledCancelsTheCall() async throws {
    let values = base.async.mapValues(to: Int.self) { _ in
      throw StorageError.cancelled
    } from: { _ in
      throw StorageError.cancelled
    }
    let keys = base.async.mapKeys { (_: Int) async throws -> String in throw StorageError.cancelled }
    let calls: [() async throws -> Void] = [
      { _ = try await values.value(forKey: "a") }, { try await values.set(2, forKey: "a") },
      { try await keys.set(2, forKey: 7) },
    ]
    for call in calls {
      await #expect {
        try await call()
      } throws: { error in
        if case .cancelled = error as? StorageError { true } else { false }
      }
    }
    #expect(base.all == ["a": 1])
  }

  @Test func oneWayMapsReadOrWriteOnly() async throws {
    let reading = base.async.mapValues(to: String.self) { (value: Int) async throws -> String in "\(value)" }
    #expect(try await reading.value(forKey: "a") == "1")
    let writing = base.async.mapValues(from: { (text: String) async throws -> Int in text.count })
    try await writing.set("four", forKey: "b")
    #expect(base.all["b"] == 4)
    let (reader, writer): (Any, Any) = (reading, writing)
    #expect(reader is any ReadableProbe && !(reader is any WritableProbe))
    #expect(writer is any WritableProbe && !(writer is any ReadableProbe))
  }

  @Test func whatMemoryKnowsIsNotAskedForElsewhere() async throws {
    let mapped = base.async.mapValues(to: String.self) {
      "\($0)"
    } from: {
      Int($0) ?? 0
    }
    #expect(try await mapped.value(forKey: "a") == "1")
    #expect(base.reads == 0 && base.heldReads == 1)
  }
}

/// What a map can do is said by its type.
private protocol ReadableProbe {}
private protocol WritableProbe {}
extension AsyncMapped: ReadableProbe where Base: ReadableStorage {}
extension AsyncMapped: WritableProbe where Base: WritableStorage {}
