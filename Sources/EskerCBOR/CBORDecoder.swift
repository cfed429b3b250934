/// Turns CBOR (RFC 8949) back into values of `Decodable` types.
///
/// ```swift
/// let city = try CBORDecoder().decode(City.self, from: bytes)
/// ```
///
/// Fields are found by key, so a struct reads what an older or newer version of it wrote as long as the fields it
/// requires are there; fields it does not know are passed over. Indefinite lengths, longer forms of numbers and tags that
/// mean nothing to the type are accepted, since other writers use them.
///
/// No bytes make it trap or hang, and memory stays in proportion to the bytes there are, whatever lengths they declare.
///
/// A decoder may be used from any number of threads at once.
public final class CBORDecoder: Sendable {
  /// What `init(from:)` finds in its decoder's `userInfo`.
  public let userInfo: [CodingUserInfoKey: any Sendable]

  private let spare = Spare<DecodingSession>()

  /// Creates a decoder.
  public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.userInfo = userInfo
  }

  /// The value that `bytes` hold.
  ///
  /// - Throws: `DecodingError` with the coding path and the offset of the byte: `dataCorrupted` when the bytes are not one
  ///   whole CBOR item or a number does not fit, `keyNotFound`, `valueNotFound` or `typeMismatch` when they hold
  ///   something else than `type` expects; and whatever the type's own `init(from:)` throws.
  /// - Complexity: O(size of the bytes) for values that read their fields in the order in which they were written.
  public func decode<T: Decodable>(_ type: T.Type = T.self, from bytes: RawSpan) throws -> T {
    // Safety: the span keeps the bytes until this returns.
    try unsafe bytes.withUnsafeBytes { buffer in try unsafe decode(type, Reader(buffer)) }
  }

  /// The value that `bytes` hold.
  ///
  /// - Throws: as ``decode(_:from:)-(_,RawSpan)`` does.
  /// - Complexity: O(size of the bytes) for values that read their fields in the order in which they were written.
  public func decode<T: Decodable>(_ type: T.Type = T.self, from bytes: [UInt8]) throws -> T {
    // Safety: the array outlives the closure.
    try unsafe bytes.withUnsafeBytes { buffer in try unsafe decode(type, Reader(buffer)) }
  }

  private func decode<T: Decodable>(_ type: T.Type, _ reader: Reader) throws -> T {
    let session = spare.take { DecodingSession(userInfo: userInfo) }
    defer {
      // Whoever kept a decoder finds no bytes in it: these are the caller's again.
      session.with { $0.reset() }
      spare.give(session)
    }
    return try session.with { try $0.decodeDocument(type, reader) }
  }
}
