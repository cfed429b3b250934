/// Encodes values of `Encodable` types as CBOR (RFC 8949), a compact binary format supported by every common language.
///
/// ```swift
/// let encoder = CBOREncoder()
/// let bytes = try encoder.encode(city)
/// ```
///
/// Integers, lengths and floating-point numbers are written in their shortest form and every length is definite, so equal
/// structs give equal bytes. Sets and dictionaries have no order of their own: use `sortsKeys` where equal dictionaries must
/// give equal bytes too.
///
/// An encoder keeps a buffer for the next call: create one and share it. It may be used from any number of threads at once.
public final class CBOREncoder: Sendable {
  /// Whether the keys of every map are sorted by their encoded bytes, as core deterministic encoding requires (RFC 8949,
  /// 4.2.1). Otherwise a struct's fields stay in the order in which it encodes them.
  public let sortsKeys: Bool

  /// The `userInfo` of the encoder passed to `encode(to:)`.
  public let userInfo: [CodingUserInfoKey: any Sendable]

  private let spare = SpareObject<EncodingSession>()

  /// Creates an encoder.
  public init(sortsKeys: Bool = false, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.sortsKeys = sortsKeys
    self.userInfo = userInfo
  }

  /// Encodes `value`.
  ///
  /// - Throws: `EncodingError` with the coding path if a value is nested too deeply or misuses its encoder, and whatever the
  ///   value's own `encode(to:)` throws.
  /// - Complexity: O(size of the bytes), plus sorting with `sortsKeys`.
  public func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
    let session = begin()
    defer { end(session) }
    return try session.with { session in
      try session.encodeDocument(value)
      return session.output.copied(from: 0)
    }
  }

  /// Appends the encoded bytes of `value` to `buffer`, which keeps its capacity from call to call. On an error, `buffer` is
  /// unchanged.
  ///
  /// - Throws: As `encode(_:)` does.
  /// - Complexity: O(size of the bytes).
  public func encode<T: Encodable>(_ value: T, into buffer: inout [UInt8]) throws {
    let session = begin()
    defer { end(session) }
    try session.with { session in
      try session.encodeDocument(value)
      session.output.append(to: &buffer)
    }
  }

  /// Passes the encoded bytes of `value` to `body` without copying them. They are valid until `body` returns.
  ///
  /// - Throws: As `encode(_:)` does, and what `body` throws.
  /// - Complexity: O(size of the bytes).
  public func withEncodedBytes<T: Encodable, R: ~Copyable>(
    of value: T,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    let session = begin()
    defer { end(session) }
    try session.with { try $0.encodeDocument(value) }
    // Safety: nothing is written before the session is reset, which is after `body`.
    return try unsafe body(session.with { unsafe $0.output.pointer }.bytes)
  }

  /// Encodes `value` without Codable.
  ///
  /// - Throws: As `encode(_:)` does.
  /// - Complexity: O(size of the bytes), plus sorting with `sortsKeys`.
  public func encode<T: CBOREncodable>(_ value: T) throws -> [UInt8] {
    let session = begin()
    defer { end(session) }
    return try session.with { session in
      try session.encodeDocument(directly: value)
      return session.output.copied(from: 0)
    }
  }

  /// Appends the encoded bytes of `value` to `buffer` without Codable. On an error, `buffer` is unchanged.
  ///
  /// - Throws: As `encode(_:)` does.
  /// - Complexity: O(size of the bytes).
  public func encode<T: CBOREncodable>(_ value: T, into buffer: inout [UInt8]) throws {
    let session = begin()
    defer { end(session) }
    try session.with { session in
      try session.encodeDocument(directly: value)
      session.output.append(to: &buffer)
    }
  }

  /// Passes the bytes of `value`, encoded without Codable, to `body` without copying them. They are valid until `body` returns.
  ///
  /// - Throws: As `encode(_:)` does, and what `body` throws.
  /// - Complexity: O(size of the bytes).
  public func withEncodedBytes<T: CBOREncodable, R: ~Copyable>(
    of value: T,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    let session = begin()
    defer { end(session) }
    try session.with { try $0.encodeDocument(directly: value) }
    // Safety: nothing is written before the session is reset, which is after `body`.
    return try unsafe body(session.with { unsafe $0.output.pointer }.bytes)
  }

  @inline(__always)
  private func begin() -> BorrowedObject<EncodingSession> {
    spare.take { EncodingSession(sortsKeys: sortsKeys, userInfo: userInfo) }
  }

  @inline(__always)
  private func end(_ session: BorrowedObject<EncodingSession>) {
    session.with { $0.reset() }
    spare.give(session)
  }
}
