/// Turns keys into bytes and back, so that a storage can list its keys and report them to observers.
public struct KeyTransformer<Key: Sendable>: Sendable {
  /// Names the form that keys have as bytes, which no other form of the type may share. The first view of a keyspace records it, and
  /// others must have the same. Memory ahead of a view of another form than the type's own keeps nothing, and knows it by this.
  public let id: String
  @usableFromInline let lending: @Sendable (Key, (RawSpan) -> Void) throws -> Void
  @usableFromInline let decoding: @Sendable (RawSpan) throws -> Key

  /// A transformer from two closures, which must be each other's inverse. `encode` returns anything that lends its bytes.
  @inlinable
  public init<Bytes: ByteSource & SendableMetatype>(
    id: String,
    encode: @escaping @Sendable (Key) throws -> Bytes,
    decode: @escaping @Sendable (RawSpan) throws -> Key
  ) {
    self.id = id
    lending = { key, body in
      let bytes = try encode(key)
      bytes.withBytes { body($0) }
    }
    decoding = decode
  }

  /// A transformer that lends bytes where they lie. `lend` calls its body exactly once unless it throws.
  @inlinable
  public init(
    id: String,
    lend: @escaping @Sendable (Key, (RawSpan) -> Void) throws -> Void,
    decode: @escaping @Sendable (RawSpan) throws -> Key
  ) {
    self.id = id
    lending = lend
    decoding = decode
  }

  /// The key's bytes, copied.
  public func encode(_ key: Key) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try lending(key) { bytes = $0.copied() }
    return bytes
  }

  /// The key that the bytes stand for.
  public func decode(_ bytes: RawSpan) throws -> Key { try decoding(bytes) }

  /// The key that the bytes stand for.
  public func decode(_ bytes: [UInt8]) throws -> Key {
    try bytes.withBytes { try decoding($0) }
  }

  /// Another type that turns into this one and back.
  ///
  /// `id` names the new form: that of this transformer only where the same key, as its own type's ``StorageKey/keyTransformer`` or as
  /// another type that shares the keyspace, has the same bytes.
  public func map<New: Sendable>(
    id: String,
    to new: @escaping @Sendable (Key) throws -> New,
    from old: @escaping @Sendable (New) throws -> Key
  ) -> KeyTransformer<New> {
    KeyTransformer<New>(
      id: id,
      lend: { key, body in try lending(try old(key), body) },
      decode: { bytes in try new(try decoding(bytes)) }
    )
  }
}
