/// The upper three bits of an item's first byte (RFC 8949, 3.1).
enum Major {
  static let unsigned: UInt8 = 0 << 5
  static let negative: UInt8 = 1 << 5
  static let bytes: UInt8 = 2 << 5
  static let text: UInt8 = 3 << 5
  static let array: UInt8 = 4 << 5
  static let map: UInt8 = 5 << 5
  static let tag: UInt8 = 6 << 5
  static let simple: UInt8 = 7 << 5
  static let mask: UInt8 = 7 << 5
}

/// First bytes that determine the whole item or its type (RFC 8949, 3.3).
enum Initial {
  static let no: UInt8 = 0xf4
  static let yes: UInt8 = 0xf5
  static let null: UInt8 = 0xf6
  static let undefined: UInt8 = 0xf7
  static let half: UInt8 = 0xf9
  static let single: UInt8 = 0xfa
  static let double: UInt8 = 0xfb
  static let stop: UInt8 = 0xff
  /// The lower five bits of the first byte of an item that ends with ``stop``.
  static let indefinite: UInt8 = 0x1f
}

/// Tags for Swift types (RFC 8949, 3.4; RFC 9581; the IANA registry of CBOR tags).
enum Tag {
  static let dateText: UInt64 = 0
  static let epoch: UInt64 = 1
  static let bignum: UInt64 = 2
  static let negativeBignum: UInt64 = 3
  static let decimalFraction: UInt64 = 4
  static let uri: UInt64 = 32
  static let uuid: UInt64 = 37
  static let extendedTime: UInt64 = 1001
}

/// The maximum nesting of containers in a document. Types nest as deeply on the stack of the thread that encodes or decodes,
/// and the smallest stacks on the systems that Esker supports have 512 KiB.
let maximumDepth = 256
