/// Turns values of `Encodable` types into CBOR (RFC 8949), a compact binary format that every common language can read.
///
/// ```swift
/// let encoder = CBOREncoder()
/// let bytes = try encoder.encode(city)
/// ```
///
/// Integers, lengths and floating-point numbers take their shortest form and every length is definite, so equal structs
/// give equal bytes. A set or a dictionary has no order of its own: ask for `sortsKeys` where equal dictionaries must
/// give equal bytes too.
///
/// An encoder keeps a buffer for the next call: make one and share it. It may be used from any number of threads at once.
public final class CBOREncoder: Sendable {
  /// Whether the keys of every map are sorted by their encoded bytes, as the core deterministic encoding asks
  /// (RFC 8949, 4.2.1). Otherwise a struct's fields stay in the order in which it encodes them.
  public let sortsKeys: Bool

  /// What `encode(to:)` finds in its encoder's `userInfo`.
  public let userInfo: [CodingUserInfoKey: any Sendable]

  private let spare = Spare<EncodingSession>()

  /// Creates an encoder.
  public init(sortsKeys: Bool = false, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.sortsKeys = sortsKeys
    self.userInfo = userInfo
  }

  /// The bytes of `value`.
  ///
  /// - Throws: `EncodingError` with the coding path when a value is nested too deeply or uses its encoder wrongly, and
  ///   whatever the value's own `encode(to:)` throws.
  /// - Complexity: O(size of the bytes); with `sortsKeys`, sorting comes on top.
  public func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
    let session = begin()
    defer { end(session) }
    return try session.with { session in
      try session.encodeDocument(value)
      return session.output.copied(from: 0)
    }
  }

  /// Appends the bytes of `value` to `buffer`, which keeps its capacity from call to call. If it throws, `buffer` is as
  /// it was.
  ///
  /// - Throws: as ``encode(_:)`` does.
  /// - Complexity: O(size of the bytes).
  public func encode<T: Encodable>(_ value: T, into buffer: inout [UInt8]) throws {
    let session = begin()
    defer { end(session) }
    try session.with { session in
      try session.encodeDocument(value)
      session.output.append(to: &buffer)
    }
  }

  /// Lends the bytes of `value` to `body` without copying them. They are valid until `body` returns.
  ///
  /// - Throws: as ``encode(_:)`` does, and what `body` throws.
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

  @inline(__always)
  private func begin() -> Lent<EncodingSession> {
    spare.take { EncodingSession(sortsKeys: sortsKeys, userInfo: userInfo) }
  }

  @inline(__always)
  private func end(_ session: Lent<EncodingSession>) {
    session.with { $0.reset() }
    spare.give(session)
  }
}
