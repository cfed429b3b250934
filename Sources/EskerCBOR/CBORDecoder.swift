/// Decodes values of `Decodable` types from CBOR (RFC 8949).
///
/// ```swift
/// let city = try CBORDecoder().decode(City.self, from: bytes)
/// ```
///
/// Fields are found by key, so a struct can read what an older or newer version of it wrote, as long as the fields it
/// requires are there; unknown fields are skipped. Indefinite lengths, longer forms of numbers and tags that mean nothing to
/// the type are accepted, since other writers use them.
///
/// No input makes it trap or hang, and memory stays proportional to the size of the input, whatever lengths it declares.
///
/// A decoder may be used from any number of threads at once.
public final class CBORDecoder: Sendable {
  /// The `userInfo` of the decoder passed to `init(from:)`.
  public let userInfo: [CodingUserInfoKey: any Sendable]

  private let spare = SpareObject<DecodingSession>()

  /// Creates a decoder.
  public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.userInfo = userInfo
  }

  /// Decodes a value from `bytes`.
  ///
  /// - Throws: `DecodingError` with the coding path and the byte offset: `dataCorrupted` if the bytes are not exactly one
  ///   CBOR item or a number does not fit, `keyNotFound`, `valueNotFound` or `typeMismatch` if they do not hold what `type`
  ///   expects; and whatever the type's own `init(from:)` throws.
  /// - Complexity: O(size of the bytes) for values that read their fields in the order in which they were written.
  public func decode<T: Decodable>(_ type: T.Type = T.self, from bytes: RawSpan) throws -> T {
    // Safety: the span keeps the bytes until this returns.
    try unsafe bytes.withUnsafeBytes { buffer in try unsafe decode(type, ItemReader(buffer)) }
  }

  /// Decodes a value from `bytes`.
  ///
  /// - Throws: As `decode(_:from:)` does.
  /// - Complexity: O(size of the bytes) for values that read their fields in the order in which they were written.
  public func decode<T: Decodable>(_ type: T.Type = T.self, from bytes: [UInt8]) throws -> T {
    // Safety: the array outlives the closure.
    try unsafe bytes.withUnsafeBytes { buffer in try unsafe decode(type, ItemReader(buffer)) }
  }

  /// Decodes a value from `bytes` without Codable.
  ///
  /// - Throws: As `decode(_:from:)` does.
  /// - Complexity: O(size of the bytes) for values that read their fields in the order in which they were written.
  public func decode<T: CBORDecodable>(_ type: T.Type = T.self, from bytes: RawSpan) throws -> T {
    // Safety: the span keeps the bytes until this returns.
    try unsafe bytes.withUnsafeBytes { buffer in try unsafe decode(directly: type, ItemReader(buffer)) }
  }

  /// Decodes a value from `bytes` without Codable.
  ///
  /// - Throws: As `decode(_:from:)` does.
  /// - Complexity: O(size of the bytes) for values that read their fields in the order in which they were written.
  public func decode<T: CBORDecodable>(_ type: T.Type = T.self, from bytes: [UInt8]) throws -> T {
    // Safety: the array outlives the closure.
    try unsafe bytes.withUnsafeBytes { buffer in try unsafe decode(directly: type, ItemReader(buffer)) }
  }

  private func decode<T: Decodable>(_ type: T.Type, _ reader: ItemReader) throws -> T {
    try withSession { try $0.decodeDocument(type, reader) }
  }

  private func decode<T: CBORDecodable>(directly type: T.Type, _ reader: ItemReader) throws -> T {
    try withSession { try $0.decodeDocument(directly: type, reader) }
  }

  @inline(__always)
  private func withSession<R>(_ body: (DecodingSession) throws -> R) rethrows -> R {
    let session = spare.take { DecodingSession(userInfo: userInfo) }
    defer {
      // A decoder kept beyond this call finds no bytes: they are the caller's again.
      session.with { $0.reset() }
      spare.give(session)
    }
    return try session.with(body)
  }
}
