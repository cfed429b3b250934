import Esker
import EskerProtobuf
import SwiftProtobuf
import Testing

@Suite struct ProtobufTests {
  private static let document = Google_Protobuf_Struct(fields: [
    "name": Google_Protobuf_Value(stringValue: "Vienna"),
    "inhabitants": Google_Protobuf_Value(numberValue: 2_000_000),
  ])

  private func withStore(_ body: (LogStore) throws -> Void) throws {
    try withTemporaryPath { path in
      let store = try LogStore(at: path)
      try body(store)
      try store.close()
    }
  }

  /// The mismatch that `body` throws as a decoding error, and what it says was expected.
  private func mismatch(_ body: () throws -> Void) -> (ProtobufMismatch, String)? {
    do {
      try body()
    } catch StorageError.decoding(_, _, let expected, let underlying) {
      return (underlying as? ProtobufMismatch).map { ($0, expected) }
    } catch {}
    return nil
  }

  @Test func messagesComeBackFromEveryForm() throws {
    try withStore { store in
      let forms: [Transformer<Google_Protobuf_Struct>] = [.protobuf, .protobufJSON, .protobufAny]
      for (number, form) in forms.enumerated() {
        let documents = try store.storage("documents-\(number)", transformer: form)
        try documents.set(Self.document, forKey: "a")
        #expect(try documents.value(forKey: "a") == Self.document)
        try documents.set(Google_Protobuf_Struct(), forKey: "empty")
        #expect(try documents.value(forKey: "empty") == Google_Protobuf_Struct())
      }
      #expect(try store.keyspace("documents-0").get("a") == (try Self.document.serializedBytes()))
      let times = try store.storage("times", transformer: Transformer<Google_Protobuf_Timestamp>.protobufJSON)
      try times.set(Google_Protobuf_Timestamp(seconds: 0, nanos: 5), forKey: "a")
      #expect(try store.keyspace("times").get("a") == Array(#""1970-01-01T00:00:00.000000005Z""#.utf8))
    }
  }

  @Test func bytesThatAreNoMessageGiveAPreciseErrorAndStay() throws {
    try withStore { store in
      let forms: [Transformer<Google_Protobuf_Struct>] = [.protobuf, .protobufJSON, .protobufAny]
      for form in forms {
        let documents = try store.storage("documents", transformer: form)
        try store.keyspace("documents").put([0x0A, 0xFF, 0x01], forKey: "a")
        let found = mismatch { _ = try documents.value(forKey: "a") }
        guard case .malformed = found?.0 else {
          Issue.record("\(String(describing: found))")
          continue
        }
        #expect(found?.1.contains("google.protobuf.Struct") == true)
        #expect(try store.keyspace("documents").get("a") == [0x0A, 0xFF, 0x01])
      }
    }
  }

  @Test func fieldsOfANewerSchemaAreKeptOrRefusedAsAsked() throws {
    try withStore { store in
      let newer = Google_Protobuf_SourceContext.with { $0.fileName = "a.proto" }
      try store.storage("contexts", transformer: Transformer<Google_Protobuf_SourceContext>.protobuf).set(
        newer,
        forKey: "a"
      )
      let older = try store.storage("contexts", transformer: Transformer<Google_Protobuf_Empty>.protobuf)
      let known = try #require(try older.value(forKey: "a"))
      try older.set(known, forKey: "b")
      #expect(try store.keyspace("contexts").get("b") == (try newer.serializedBytes()))
      let strict = try older.transform(to: Transformer<Google_Protobuf_Empty>.protobuf(unknownFields: .refused))
      let found = mismatch { _ = try strict.value(forKey: "a") }
      guard case .unknownFields("google.protobuf.Empty", 9) = found?.0 else {
        Issue.record("\(String(describing: found))")
        return
      }
    }
  }

  @Test func messageOfAnotherTypeIsRefusedByName() throws {
    try withStore { store in
      let durations = try store.storage("times", transformer: Transformer<Google_Protobuf_Duration>.protobufAny)
      try durations.set(Google_Protobuf_Duration(seconds: 1), forKey: "a")
      let times = try durations.transform(to: Transformer<Google_Protobuf_Timestamp>.protobufAny)
      let found = mismatch { _ = try times.value(forKey: "a") }
      guard case .otherMessage("google.protobuf.Timestamp", "google.protobuf.Duration") = found?.0 else {
        Issue.record("\(String(describing: found))")
        return
      }
      #expect(try durations.value(forKey: "a")?.seconds == 1)
    }
  }

  @Test func valueThatJSONCannotWriteChangesNothing() throws {
    try withStore { store in
      let values = try store.storage("values", transformer: Transformer<Google_Protobuf_Value>.protobufJSON)
      try values.set(Google_Protobuf_Value(numberValue: 1), forKey: "a")
      #expect(throws: StorageError.self) { try values.set(Google_Protobuf_Value(numberValue: .nan), forKey: "a") }
      #expect(try values.value(forKey: "a")?.numberValue == 1)
    }
  }
}
