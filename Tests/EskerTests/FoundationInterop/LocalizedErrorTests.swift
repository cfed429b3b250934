import Esker
import Foundation
import Testing

@Suite struct LocalizedErrorTests {
  static let storeErrors: [StoreError] = [
    .closed, .readOnly, .cancelled, .locked(path: "/a/cities.esker", holder: 7), .locked(path: "/a/b", holder: 0),
    .notAStore(path: "/a/b"), .directoryNotEmpty(path: "/a/b"), .unfinishedCopy(path: "/a/b", mark: "m", holder: 0),
    .unfinishedCopy(path: "/a/b", mark: "m", holder: 7), .otherStore(path: "/a/b"),
    .unknownFormat(path: "/a/b", version: 9),
    .damaged(StoreError.Location(path: "/a/b.segment", offset: 4), reason: "the checksum is wrong"),
    .noSpace(path: "/a/b", needed: 1_000_000), .capacityReached(path: "/a/b", capacity: 2_000_000, needed: 3_000_000),
    .accessDenied(path: "/a/b", errno: 1), .failed(operation: "open", path: "/a/b", errno: 2),
    .failed(operation: "open", path: "/a/b", errno: 0),
    .syncFailed(errno: 5), .outcomeUnknown(errno: 5), .keyTooLong(70_000), .valueTooLong(2 << 30),
    .batchTooLarge(3 << 30),
    .historyGone(since: SequenceNumber(rawValue: 1), oldest: SequenceNumber(rawValue: 8)), .invalidKeyspace("names"),
    .keyspaceRemoved("names"), .noSuchKeyspace("names"),
  ]

  static let storageErrors: [StorageError] = [
    .store(.closed), .encoding(view: "cities", type: "City", underlying: Failure.one),
    .decoding(key: "at", view: "cities", expected: "City (cbor)", underlying: Failure.one),
    .key("at", view: "cities", underlying: Failure.one), .rejected(key: "at", view: "cities", underlying: Failure.one),
    .unsupported(operation: "list its entries", view: "cities"), .back(name: "the server", underlying: Failure.one),
    .form(of: .keys, keyspace: "cities", recorded: "int64", asked: "utf8"), .producer(Failure.one), .cancelled,
  ]

  enum Failure: LocalizedError {
    case one
    var errorDescription: String? { "It rained." }
  }

  enum Plain: Error { case two }

  @Test func everyErrorSpeaksInSentences() {
    for error in Self.storeErrors as [any LocalizedError] + Self.storageErrors {
      #expect(error.errorDescription != nil)
      #expect(error.localizedDescription == error.errorDescription)
      for text in [error.errorDescription, error.failureReason, error.recoverySuggestion].compactMap({ $0 }) {
        #expect(text.hasSuffix("."), "\(text)")
        #expect(text.first?.isUppercase == true || text.first == "“" || text.first?.isNumber == true, "\(text)")
        #expect(!text.contains("/a/"), "\(text)")
      }
    }
  }

  @Test func theSentencesNameWhatMatters() {
    let locked = StoreError.locked(path: "/a/cities.esker", holder: 7)
    #expect((locked as any Error).localizedDescription == "The store “cities.esker” is in use.")
    #expect(locked.failureReason == "Process 7 has it open.")
    #expect(locked.recoverySuggestion == "Close it there, or open it for reading only.")
    #expect(
      StoreError.failed(operation: "open", path: "/a/b", errno: 2).failureReason?.contains("No such file") == true
    )
    let wrapped = StorageError.store(locked)
    #expect((wrapped as any Error).localizedDescription == locked.errorDescription)
    #expect(wrapped.failureReason == locked.failureReason)
    #expect(StorageError.back(name: "the server", underlying: locked).failureReason == locked.errorDescription)
    #expect(StorageError.producer(Plain.two).failureReason == "two")
  }
}
