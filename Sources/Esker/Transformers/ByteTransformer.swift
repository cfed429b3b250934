internal import EskerFormat

/// Turns bytes into other bytes and back: compression, a checksum, a cipher.
///
/// ```swift
/// let packed = Transformer<Letter>.json.then(.lz4).then(.checksum)
/// ```
///
/// Encryption is in the product EskerCrypto: `.json.then(.lz4).sealed(with: keys)`.
public struct ByteTransformer: Sendable {
  /// Names the form.
  public let id: String
  let encode: @Sendable (RawSpan) throws -> [UInt8]
  let decode: @Sendable (RawSpan) throws -> [UInt8]
  /// What is called instead of the two where bytes belong to one entry each.
  let binding: EntryBound?

  /// The closures of ``bound(id:encode:decode:)``.
  struct EntryBound: Sendable {
    let encode: @Sendable (RawSpan, RawSpan, String, (RawSpan) -> Void) throws -> Void
    let decode: @Sendable (RawSpan, RawSpan, String, (RawSpan) throws -> Void) throws -> Void
  }

  /// A transformer from two closures.
  public init(
    id: String,
    encode: @escaping @Sendable (RawSpan) throws -> [UInt8],
    decode: @escaping @Sendable (RawSpan) throws -> [UInt8]
  ) {
    self.id = id
    self.encode = encode
    self.decode = decode
    binding = nil
  }

  private init(id: String, _ binding: EntryBound) {
    self.id = id
    self.binding = binding
    encode = { _ in throw UnboundForm(id: id) }
    decode = { _ in throw UnboundForm(id: id) }
  }

  /// A transformer whose bytes belong to one entry each: it is told the bytes of the entry's key, and the name of its keyspace, empty for
  /// the default one. A cipher that authenticates both refuses a value that was moved to another key.
  ///
  /// Such a form can be used by storages over a log, as the last step, and for nothing that knows no key: ``Transformer/encode(_:)``
  /// throws.
  ///
  /// - Parameters:
  ///   - id: names the form.
  ///   - encode: is given the bytes, the key and the name of the keyspace, and calls the closure that is given last exactly once with
  ///     what they become, unless it throws.
  ///   - decode: the inverse. What the closure throws that is given last, it throws as it is.
  public static func bound(
    id: String,
    encode:
      @escaping @Sendable (
        _ bytes: RawSpan, _ key: RawSpan, _ keyspace: String, _ body: (RawSpan) -> Void
      ) throws -> Void,
    decode:
      @escaping @Sendable (
        _ bytes: RawSpan, _ key: RawSpan, _ keyspace: String, _ body: (RawSpan) throws -> Void
      ) throws -> Void
  ) -> ByteTransformer {
    ByteTransformer(id: id, EntryBound(encode: encode, decode: decode))
  }

  /// A cipher of the caller's own. Decrypting must refuse what was tampered with. It does not see the key: see
  /// ``bound(id:encode:decode:)``.
  public static func cipher(
    id: String,
    encrypt: @escaping @Sendable ([UInt8]) throws -> [UInt8],
    decrypt: @escaping @Sendable ([UInt8]) throws -> [UInt8]
  ) -> ByteTransformer {
    ByteTransformer(id: id, encode: { try encrypt($0.copied()) }, decode: { try decrypt($0.copied()) })
  }

  /// A CRC-32C behind the bytes, 4 bytes, least significant first.
  ///
  /// The log checks its own bytes; this is for values that other systems carry.
  public static let checksum = ByteTransformer(
    id: "crc32c",
    encode: { bytes in
      let sum = CRC32C.checksum(of: bytes)
      var all = bytes.copied()
      for position in 0..<4 { all.append(UInt8(truncatingIfNeeded: sum >> (8 * position))) }
      return all
    },
    decode: { bytes in
      guard bytes.byteCount >= 4 else {
        throw TransformerError.wrongLength(expected: 4, found: bytes.byteCount)
      }
      let content = bytes.extracting(droppingLast: 4)
      let sum = UInt32(littleEndian: try bytes.extracting(last: 4).load(as: UInt32.self))
      guard CRC32C.checksum(of: content) == sum else { throw TransformerError.checksumMismatch }
      return content.copied()
    }
  )

  /// LZ4: the length, 4 bytes, least significant first, and a block; where that saves nothing, 0xFFFFFFFF and the bytes.
  public static let lz4 = ByteTransformer(id: "lz4", encode: { Self.compress($0) }, decode: { try Self.decompress($0) })

  private static let stored = UInt32.max
  /// The most that a block is believed to hold: the longest value of a store.
  private static let limit = LogStore.maximumValueLength

  private static func compress(_ bytes: RawSpan) -> [UInt8] {
    // Safety: source and target are only used inside the closures. The target has room for the four bytes of the length and
    // for the source. The compressor stays within it, and what it leaves unfilled is not counted.
    unsafe bytes.withUnsafeBytes { source in
      var compressor = LZ4Compressor(level: .fast)
      return unsafe [UInt8](unsafeUninitializedCapacity: source.count + 4) { buffer, count in
        let room = UnsafeMutableRawBufferPointer(buffer)
        let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[4...])
        if source.count <= limit, let length = unsafe compressor.compress(source, into: target) {
          unsafe room.storeBytes(of: UInt32(source.count).littleEndian, as: UInt32.self)
          count = 4 + length
        } else {
          unsafe room.storeBytes(of: stored, as: UInt32.self)
          unsafe target.copyMemory(from: source)
          count = 4 + source.count
        }
      }
    }
  }

  private static func decompress(_ bytes: RawSpan) throws -> [UInt8] {
    guard bytes.byteCount >= 4 else { throw TransformerError.wrongLength(expected: 4, found: bytes.byteCount) }
    let length = UInt32(littleEndian: try bytes.extracting(first: 4).load(as: UInt32.self))
    let block = bytes.extracting(droppingFirst: 4)
    if length == stored { return block.copied() }
    // A block of n bytes cannot hold more than 255 times as many: a length that lies reserves no memory.
    guard Int(length) <= limit, Int(length) <= block.byteCount * 255 else {
      throw TransformerError.malformed("a block of \(block.byteCount) bytes cannot hold \(length)")
    }
    var isWhole = false
    // Safety: as above; a block that does not fill the target counts for nothing.
    let content = unsafe block.withUnsafeBytes { source in
      unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
        let target = UnsafeMutableRawBufferPointer(buffer)
        let dictionary = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        isWhole = unsafe LZ4.decompress(source, into: target, dictionary: dictionary)
        count = isWhole ? Int(length) : 0
      }
    }
    guard isWhole else { throw TransformerError.malformed("the LZ4 block is damaged") }
    return content
  }
}

extension Transformer {
  /// This form, turned further: encoding goes through `bytes` last, decoding first.
  public func then(_ bytes: ByteTransformer) -> Transformer {
    if binding != nil || bytes.binding != nil { return bound(by: bytes) }
    var transformer = Transformer(
      id: "\(id)+\(bytes.id)",
      lend: { value, body in
        var turned: Result<[UInt8], any Error> = .success([])
        try lending(value) { span in
          do { turned = .success(try bytes.encode(span)) } catch { turned = .failure(error) }
        }
        let whole = try turned.get()
        whole.withBytes { body($0) }
      },
      decode: { span in
        let inner = try bytes.decode(span)
        return try inner.withBytes { try decoding($0) }
      }
    )
    transformer.encodingTakesTime = true
    return transformer
  }

  /// The same, where one of both must be told the entry.
  private func bound(by bytes: ByteTransformer) -> Transformer {
    let binding = EntryBinding<Value> { value, key, keyspace, body in
      var failure: (any Error)?
      try lend(value, forKey: key, in: keyspace) { span in
        do { try bytes.encode(span, forKey: key, in: keyspace, body) } catch { failure = error }
      }
      if let failure { throw failure }
    } decoding: { span, key, keyspace in
      var value: Value?
      try bytes.decode(span, forKey: key, in: keyspace) { inner in
        value = try decode(inner, forKey: key, in: keyspace)
      }
      guard let value else { throw TransformerError.malformed("\(bytes.id) gave no bytes") }
      return value
    }
    return Transformer(id: "\(id)+\(bytes.id)", binding: binding)
  }
}

extension ByteTransformer {
  fileprivate func encode(
    _ bytes: RawSpan,
    forKey key: RawSpan,
    in keyspace: String,
    _ body: (RawSpan) -> Void
  ) throws {
    if let binding { return try binding.encode(bytes, key, keyspace, body) }
    let turned = try encode(bytes)
    turned.withBytes { body($0) }
  }

  fileprivate func decode(
    _ bytes: RawSpan,
    forKey key: RawSpan,
    in keyspace: String,
    _ body: (RawSpan) throws -> Void
  ) throws {
    if let binding { return try binding.decode(bytes, key, keyspace, body) }
    let inner = try decode(bytes)
    try inner.withBytes { try body($0) }
  }
}
