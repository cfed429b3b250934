/// How values become bytes that belong to one entry, such as sealed ones: whoever encodes or decodes says of which key and keyspace.
///
/// A class: a transformer without one pays for a reference that is nil.
@usableFromInline
final class EntryBinding<Value: Sendable>: Sendable {
  /// Lends the bytes of a value under a key of the keyspace with that name. The body is called exactly once unless an error is thrown.
  @usableFromInline let lending: @Sendable (Value, RawSpan, String, (RawSpan) -> Void) throws -> Void
  /// The value of bytes that stand under a key of the keyspace with that name.
  @usableFromInline let decoding: @Sendable (RawSpan, RawSpan, String) throws -> Value

  @usableFromInline
  init(
    lending: @escaping @Sendable (Value, _ key: RawSpan, _ keyspace: String, (RawSpan) -> Void) throws -> Void,
    decoding: @escaping @Sendable (_ bytes: RawSpan, _ key: RawSpan, _ keyspace: String) throws -> Value
  ) {
    self.lending = lending
    self.decoding = decoding
  }
}

/// The form binds bytes to their entry, and was asked to encode or decode some without one.
struct UnboundForm: Error, CustomStringConvertible {
  let id: String

  /// What is wrong.
  var description: String {
    "the form \(id) binds a value to its key and keyspace, which are not known here: "
      + "use it as the form of a storage, and let no step but `then` and `map` follow it"
  }
}

extension Transformer {
  /// A transformer whose values belong to one entry each.
  init(id: String, binding: EntryBinding<Value>) {
    self.init(
      id: id,
      lend: { _, _ in throw UnboundForm(id: id) },
      decode: { _ in throw UnboundForm(id: id) }
    )
    self.binding = binding
    encodingTakesTime = true
  }

  /// Calls `body` with the bytes that the value has under that key of that keyspace.
  @inlinable @inline(__always)
  func lend(
    _ value: Value,
    forKey key: RawSpan,
    in keyspace: @autoclosure () -> String,
    _ body: (RawSpan) -> Void
  ) throws {
    guard let binding else { return try lending(value, body) }
    try binding.lending(value, key, keyspace(), body)
  }

  /// The value that the bytes stand for under that key of that keyspace.
  @inlinable @inline(__always)
  func decode(_ bytes: RawSpan, forKey key: RawSpan, in keyspace: @autoclosure () -> String) throws -> Value {
    guard let binding else { return try decoding(bytes) }
    return try binding.decoding(bytes, key, keyspace())
  }

  /// The value's bytes under that key of what has that name, copied; asks for the key only if they depend on it.
  package func encode(
    _ value: Value,
    forKey key: @autoclosure () throws -> [UInt8],
    in name: String
  ) throws -> [UInt8] {
    guard let binding else { return try encode(value) }
    var bytes: [UInt8] = []
    try key().withBytes { key throws in try binding.lending(value, key, name) { bytes = $0.copied() } }
    return bytes
  }

  /// The value that the bytes stand for under that key of what has that name; asks for the key only if that depends on it.
  package func decode(
    _ bytes: RawSpan,
    forKey key: @autoclosure () throws -> [UInt8],
    in name: String
  ) throws -> Value {
    guard let binding else { return try decoding(bytes) }
    return try key().withBytes { key throws in try binding.decoding(bytes, key, name) }
  }
}
