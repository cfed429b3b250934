public import Foundation

extension String: StorageKey {
  /// The text, compared by its UTF-8.
  public typealias Held = StorageRequest.HeldText

  /// UTF-8. Strings that Swift considers equal but that consist of different scalars, such as é as one or as two, are two keys.
  public static var keyTransformer: KeyTransformer<String> {
    KeyTransformer(
      id: "utf8",
      lend: { key, body in key.withBytes { body($0) } },
      decode: { try Transformer<String>.utf8.decoding($0) }
    )
  }
}

extension Array: StorageKey where Element == UInt8 {
  /// Itself.
  public typealias Held = [UInt8]

  /// The bytes as they are.
  public static var keyTransformer: KeyTransformer<[UInt8]> {
    KeyTransformer(id: "bytes", lend: { key, body in key.withBytes { body($0) } }, decode: { $0.copied() })
  }
}

extension Data: StorageKey {
  /// The bytes, hashed as a whole.
  public typealias Held = StorageRequest.HeldData

  /// The bytes as they are.
  public static var keyTransformer: KeyTransformer<Data> {
    KeyTransformer(
      id: "bytes",
      lend: { key, body in key.withBytes { body($0) } },
      decode: { Data($0) }
    )
  }
}

extension UUID: StorageKey {
  /// Itself.
  public typealias Held = UUID

  /// The 16 bytes of the identifier.
  public static var keyTransformer: KeyTransformer<UUID> {
    let values = Transformer<UUID>.uuid
    return KeyTransformer(id: values.id, lend: values.lending, decode: values.decoding)
  }
}

extension Bool: StorageKey {
  /// Itself.
  public typealias Held = Bool

  /// One byte, 0 or 1.
  public static var keyTransformer: KeyTransformer<Bool> {
    let values = Transformer<Bool>.byte
    return KeyTransformer(id: values.id, lend: values.lending, decode: values.decoding)
  }

  /// The key itself.
  public func held(by keys: KeyTransformer<Bool>) -> Bool { self }

  /// The key with that byte; nil if there is none.
  public static func held(from bytes: RawSpan) -> Bool? { try? keyTransformer.decode(bytes) }

  /// The key itself.
  public static func key(of held: Bool, by keys: KeyTransformer<Bool>) -> Bool { held }
}

extension StorageKey where Self: RawRepresentable, RawValue: StorageKey {
  /// The form of the raw value.
  public static var keyTransformer: KeyTransformer<Self> { .rawValue }
}

extension StorageKey where Self: Codable {
  /// JSON with its names in order. What encodes differently each time, such as a `Set`, must not be part of a key.
  public static var keyTransformer: KeyTransformer<Self> { .json }
}

extension StorageKey where Self: RawRepresentable & Codable, RawValue: StorageKey {
  /// The form of the raw value.
  public static var keyTransformer: KeyTransformer<Self> { .rawValue }
}

extension KeyTransformer where Key: RawRepresentable, Key.RawValue: StorageKey {
  /// A key as its raw value.
  public static var rawValue: KeyTransformer {
    let raw = Key.RawValue.keyTransformer
    return raw.map(
      id: raw.id,
      to: { raw in
        guard let key = Key(rawValue: raw) else { throw TransformerError.noSuchCase("\(raw)") }
        return key
      },
      from: { $0.rawValue }
    )
  }
}

extension KeyTransformer where Key: Codable {
  /// JSON with its names in order, so that equal keys are equal bytes.
  public static var json: KeyTransformer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let values = Transformer<Key>.json(encoder: encoder)
    return KeyTransformer(id: "json", lend: values.lending, decode: values.decoding)
  }
}
