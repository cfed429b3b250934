/// Turns values into bytes and back.
///
/// ```swift
/// let points = Transformer<Point>(id: "point") { point in [point.x, point.y] } decode: { bytes in try Point(bytes) }
/// ```
///
/// Both directions may throw any error, which a storage throws as `StorageError.encoding` or `.decoding`, with the key and the
/// view. They may be called from any thread.
public struct Transformer<Value: Sendable>: Sendable {
  /// Names the form that values have as bytes. Transformers of one value type with equal ids are taken to be the same.
  ///
  /// The first view of a keyspace records it. An `@` with a number is a version, which is not recorded; see
  /// ``versioned(_:migrate:)``.
  public let id: String

  /// Lends a value's bytes. The body is called exactly once unless an error is thrown.
  ///
  /// Bytes are lent, not returned, so that a string or an array is written from where it lies and a number from the stack.
  @usableFromInline let lending: @Sendable (Value, (RawSpan) -> Void) throws -> Void
  @usableFromInline let decoding: @Sendable (RawSpan) throws -> Value
  /// Whether encoding is work: meanwhile a storage has what it writes to next brought into the processor's cache.
  @usableFromInline var encodingTakesTime = false
  /// What is called instead of the two, which throw then, where bytes belong to one entry each.
  @usableFromInline var binding: EntryBinding<Value>?

  /// A transformer from two closures. `encode` returns anything that lends its bytes: an array, `Data`, a string.
  @inlinable
  public init<Bytes: ByteSource & SendableMetatype>(
    id: String,
    encode: @escaping @Sendable (Value) throws -> Bytes,
    decode: @escaping @Sendable (RawSpan) throws -> Value
  ) {
    self.id = id
    lending = { value, body in
      let bytes = try encode(value)
      bytes.withBytes { body($0) }
    }
    decoding = decode
    encodingTakesTime = true
  }

  /// A transformer that lends bytes where they lie. `lend` calls its body exactly once unless it throws.
  @inlinable
  public init(
    id: String,
    lend: @escaping @Sendable (Value, (RawSpan) -> Void) throws -> Void,
    decode: @escaping @Sendable (RawSpan) throws -> Value
  ) {
    self.id = id
    lending = lend
    decoding = decode
  }

  /// Calls `body` with the value's bytes.
  ///
  /// - Throws: what encoding throws.
  @inlinable
  public func withBytes(of value: Value, _ body: (RawSpan) -> Void) throws {
    try lending(value, body)
  }

  /// The value's bytes, copied.
  public func encode(_ value: Value) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try lending(value) { span in bytes = span.copied() }
    return bytes
  }

  /// The value that the bytes stand for.
  @inlinable
  public func decode(_ bytes: RawSpan) throws -> Value {
    try decoding(bytes)
  }

  /// The value that the bytes stand for.
  public func decode(_ bytes: [UInt8]) throws -> Value {
    try bytes.withBytes { try decoding($0) }
  }

  /// Another type that turns into this one: a wrapper, a class, a type of another module. `id` names the form, which no other form of
  /// the new type may share.
  @inlinable
  public func map<New: Sendable>(
    id: String,
    to new: @escaping @Sendable (Value) throws -> New,
    from old: @escaping @Sendable (New) throws -> Value
  ) -> Transformer<New> {
    var mapped = Transformer<New>(
      id: id,
      lend: { value, body in try lending(try old(value), body) },
      decode: { bytes in try new(try decoding(bytes)) }
    )
    mapped.encodingTakesTime = encodingTakesTime
    if let binding {
      mapped.binding = EntryBinding { value, key, keyspace, body in
        try binding.lending(try old(value), key, keyspace, body)
      } decoding: { bytes, key, keyspace in
        try new(try binding.decoding(bytes, key, keyspace))
      }
    }
    return mapped
  }
}

/// Why a transformer supplied here could not do its work.
public enum TransformerError: Error, Hashable, Sendable {
  /// The bytes are not as many as the form has.
  case wrongLength(expected: Int, found: Int)
  /// The bytes are not text in that encoding, or the text cannot be written in it.
  case notText(encoding: String)
  /// No value of the type has this raw value.
  case noSuchCase(String)
  /// The bytes do not have the form.
  case malformed(String)
  /// The bytes do not have the checksum that is kept with them.
  case checksumMismatch
  /// The bytes were written under that version, and the transformer has no migration that reads it. `known` is the transformer's own
  /// version, which ``Transformer/versioned(_:migrate:)`` adds to what a migration throws.
  case unknownVersion(UInt16, known: UInt16? = nil)
}

extension TransformerError: CustomStringConvertible {
  /// What is wrong, in one line.
  public var description: String {
    switch self {
    case .wrongLength(let expected, let found): "it has \(found) bytes, and not \(expected)"
    case .notText(let encoding): "it is not text in \(encoding)"
    case .noSuchCase(let name): "there is no case \(name)"
    case .malformed(let reason): reason
    case .checksumMismatch: "its checksum does not match"
    case .unknownVersion(let found, let known?) where found > known:
      "it has version \(found), and this program knows versions up to \(known): update the program"
    case .unknownVersion(let found, let known?):
      "it has version \(found), and this program, of version \(known), has no migration from it: add one, or use a program that has it"
    case .unknownVersion(let found, nil):
      "it has version \(found), which this program does not know: update the program"
    }
  }
}
