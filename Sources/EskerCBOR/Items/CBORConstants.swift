/// The upper three bits of an item's first byte (RFC 8949, 3.1).
package enum MajorType {
  package static let unsigned: UInt8 = 0 << 5
  package static let negative: UInt8 = 1 << 5
  package static let bytes: UInt8 = 2 << 5
  package static let text: UInt8 = 3 << 5
  package static let array: UInt8 = 4 << 5
  package static let map: UInt8 = 5 << 5
  package static let tag: UInt8 = 6 << 5
  package static let simple: UInt8 = 7 << 5
  package static let mask: UInt8 = 7 << 5
}

/// First bytes that determine the whole item or its type (RFC 8949, 3.3).
package enum InitialByte {
  package static let no: UInt8 = 0xf4
  package static let yes: UInt8 = 0xf5
  package static let null: UInt8 = 0xf6
  package static let undefined: UInt8 = 0xf7
  package static let half: UInt8 = 0xf9
  package static let single: UInt8 = 0xfa
  package static let double: UInt8 = 0xfb
  package static let stop: UInt8 = 0xff
  /// The lower five bits of the first byte of an item that ends with ``stop``.
  package static let indefinite: UInt8 = 0x1f
}

/// Tags for Swift types (RFC 8949, 3.4; RFC 9581; the IANA registry of CBOR tags).
package enum CBORTag {
  package static let dateText: UInt64 = 0
  package static let epoch: UInt64 = 1
  package static let bignum: UInt64 = 2
  package static let negativeBignum: UInt64 = 3
  package static let decimalFraction: UInt64 = 4
  package static let uri: UInt64 = 32
  package static let uuid: UInt64 = 37
  package static let extendedTime: UInt64 = 1001
}

/// The maximum nesting of containers in a document. Types nest as deeply on the stack of the thread that encodes or decodes,
/// and the smallest stacks on the systems that Esker supports have 512 KiB.
package let maximumDepth = 256
