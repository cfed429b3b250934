public import Foundation

/// A type whose values can be keys.
///
/// `String`, the integers, `Double`, `Bool`, `UUID`, `Date`, `Data` and `[UInt8]` are. A type that is `Codable` or `RawRepresentable` over
/// one of them needs no more than the conformance; a ``CompositeKey`` is made of several.
///
/// **Keys are compared by their bytes**, everywhere: two are the same key if ``keyTransformer`` makes the same bytes of them,
/// whatever `==` says. Memory compares ``Held`` keys instead, which are equal if the bytes are.
public protocol StorageKey: Hashable, Sendable {
  /// What memory keeps of a key: equal, and only then, where the bytes are. A key's bytes, unless its type has something faster.
  associatedtype Held: Hashable & Sendable = StorageRequest.HeldBytes

  /// The form that keys of this type have as bytes.
  static var keyTransformer: KeyTransformer<Self> { get }

  /// What memory keeps of the key, whose form is `keys`; throws for one that cannot become bytes.
  func held(by keys: KeyTransformer<Self>) throws -> Held

  /// What memory keeps of the key with those bytes; nil if there is no such key.
  static func held(from bytes: RawSpan) -> Held?

  /// The key of which memory keeps `held`, in the form `keys`.
  static func key(of held: Held, by keys: KeyTransformer<Self>) throws -> Self
}

extension StorageKey {
  /// The identity of what a storage of that number and name has under the key.
  func identity(
    in storage: UInt64,
    by keys: KeyTransformer<Self>,
    named name: String
  ) throws(StorageError) -> StorageRequest.Identity {
    do { return StorageRequest.Identity(storage: storage, key: try keys.encode(self)) } catch {
      throw .key("\(self)", view: name, underlying: error)
    }
  }
}

extension StorageRequest {
  /// A key's bytes, as memory keeps them.
  public struct HeldBytes: Hashable, Sendable {
    @usableFromInline package let bytes: [UInt8]

    @inlinable
    init(_ bytes: [UInt8]) {
      self.bytes = bytes
    }
  }
}

extension StorageKey where Held == StorageRequest.HeldBytes {
  /// The bytes.
  public func held(by keys: KeyTransformer<Self>) throws -> StorageRequest.HeldBytes {
    StorageRequest.HeldBytes(try keys.encode(self))
  }

  /// The bytes.
  public static func held(from bytes: RawSpan) -> StorageRequest.HeldBytes? { StorageRequest.HeldBytes(bytes.copied()) }

  /// The key that the bytes stand for.
  public static func key(of held: StorageRequest.HeldBytes, by keys: KeyTransformer<Self>) throws -> Self {
    try keys.decode(held.bytes)
  }
}

extension FixedWidthInteger where Self: StorageKey, Self: BitwiseCopyable {
  /// The key itself.
  @inlinable @inline(__always)
  public func held(by keys: KeyTransformer<Self>) -> Self { self }

  /// The key that the bytes stand for.
  @inlinable
  public static func held(from bytes: RawSpan) -> Self? {
    (try? bytes.load(as: Self.self)).map { Self(bigEndian: $0) ^ Self.min }
  }

  /// The key itself.
  public static func key(of held: Self, by keys: KeyTransformer<Self>) -> Self { held }
}

extension UUID {
  /// The key itself.
  public func held(by keys: KeyTransformer<UUID>) -> UUID { self }

  /// The key with those bytes; nil unless there are 16.
  public static func held(from bytes: RawSpan) -> UUID? {
    (try? bytes.load(as: uuid_t.self)).map { UUID(uuid: $0) }
  }

  /// The key itself.
  public static func key(of held: UUID, by keys: KeyTransformer<UUID>) -> UUID { held }
}

extension Array where Element == UInt8 {
  /// The key itself.
  public func held(by keys: KeyTransformer<[UInt8]>) -> [UInt8] { self }

  /// The bytes.
  public static func held(from bytes: RawSpan) -> [UInt8]? { bytes.copied() }

  /// The key itself.
  public static func key(of held: [UInt8], by keys: KeyTransformer<[UInt8]>) -> [UInt8] { held }
}

extension StorageRequest {
  /// A text as memory keeps it: equal if the UTF-8 is, while a `String` also equals one of different scalars, such as é as one or as
  /// two.
  public struct HeldText: Hashable, Sendable {
    @usableFromInline let text: String

    @inlinable @inline(__always)
    init(_ text: String) {
      self.text = text
    }

    /// Whether both have the same UTF-8.
    @inlinable @inline(__always)
    public static func == (left: StorageRequest.HeldText, right: StorageRequest.HeldText) -> Bool {
      // Takes no time for short strings and for those that share their storage. The standard library compiles this into its
      // clients, so it fits whatever layout strings have; from Swift 6.4 on its name is `isTriviallyIdentical(to:)` (SE-0494).
      if left.text._isIdentical(to: right.text) { return true }
      return left.text.withBytes { left in right.text.withBytes { right in left.hasSameBytes(as: right) } }
    }

    /// That of the text: texts of the same UTF-8 are equal, so their hashes are.
    @inlinable @inline(__always)
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
  }
}

extension String {
  /// The text.
  @inlinable @inline(__always)
  public func held(by keys: KeyTransformer<String>) -> StorageRequest.HeldText { StorageRequest.HeldText(self) }

  /// The text with those bytes; nil unless they are UTF-8.
  public static func held(from bytes: RawSpan) -> StorageRequest.HeldText? {
    String(validating: bytes).map { StorageRequest.HeldText($0) }
  }

  /// The text.
  public static func key(of held: StorageRequest.HeldText, by keys: KeyTransformer<String>) -> String { held.text }
}
