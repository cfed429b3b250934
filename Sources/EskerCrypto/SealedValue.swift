#if Crypto
  internal import Crypto
  internal import Esker
  internal import Foundation

  /// The bytes of a sealed value:
  ///
  /// | Bytes | Content |
  /// |---|---|
  /// | 1 | `FE`, which begins no text, CBOR, JSON or property list |
  /// | 1 | the algorithm: 1 for AES-256-GCM, 2 for ChaCha20-Poly1305 |
  /// | 4 | the id of the key, least significant byte first |
  /// | 12 | the nonce, random |
  /// | n | the value, encrypted |
  /// | 16 | the tag |
  ///
  /// The tag also authenticates the first six bytes, the length of the keyspace's name, 4 bytes, least significant first, the name, and the
  /// bytes of the entry's key.
  ///
  /// Safety: pointers are used only inside the closures that lend them, within buffers of the size that was asked for, each byte of which
  /// is written before it is read.
  enum SealedValue {
    static let mark: UInt8 = 0xFE
    static let headLength = 6
    /// Nonce and tag.
    static let boxOverhead = 28

    /// What a value says of itself.
    struct Head: Equatable {
      var algorithm: UInt8
      var keyID: UInt32

      init(of key: KeyRing.Key) {
        algorithm = key.algorithm.number
        keyID = key.id
      }

      init(_ bytes: RawSpan) throws(SealingError) {
        guard bytes.byteCount >= headLength + boxOverhead else { throw .notSealed }
        guard unsafe bytes.unsafeLoad(fromUncheckedByteOffset: 0, as: UInt8.self) == mark else { throw .notSealed }
        algorithm = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: 1, as: UInt8.self)
        keyID = unsafe UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: 2, as: UInt32.self))
      }

      func store(into buffer: UnsafeMutableRawBufferPointer) {
        unsafe buffer[0] = mark
        unsafe buffer[1] = algorithm
        unsafe buffer.storeBytes(of: keyID.littleEndian, toByteOffset: 2, as: UInt32.self)
      }
    }

    /// Calls `body` with the sealed bytes, once, unless it throws.
    static func seal(
      _ bytes: RawSpan,
      _ key: RawSpan,
      _ keyspace: String,
      with ring: KeyRing,
      _ body: (RawSpan) -> Void
    ) throws(SealingError) {
      let current = ring.present.current
      let head = Head(of: current)
      let box: Data? = unsafe withContext(of: head, key, keyspace) { context in unsafe Self.box(bytes, current, context)
      }
      guard let box else { throw .failed(keyID: current.id) }
      unsafe withUnsafeTemporaryAllocation(byteCount: headLength + box.count, alignment: 8) { buffer in
        unsafe head.store(into: buffer)
        unsafe box.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: buffer[headLength...]))
        body(unsafe UnsafeRawBufferPointer(buffer).bytes)
      }
    }

    /// Nonce, what was encrypted, and tag.
    private static func box(_ bytes: RawSpan, _ key: KeyRing.Key, _ context: UnsafeRawBufferPointer) -> Data? {
      unsafe bytes.withUnsafeBytes { message in
        switch key.algorithm {
        case .aesGCM: unsafe (try? AES.GCM.seal(message, using: key.secret, authenticating: context))?.combined
        case .chaChaPoly: unsafe (try? ChaChaPoly.seal(message, using: key.secret, authenticating: context))?.combined
        }
      }
    }

    /// The bytes that were sealed, if they are those, and stand where they were sealed for.
    static func open(
      _ bytes: RawSpan,
      _ key: RawSpan,
      _ keyspace: String,
      with ring: KeyRing
    ) throws(SealingError) -> Data {
      let head = try Head(bytes)
      guard KeyRing.Algorithm.allCases.contains(where: { $0.number == head.algorithm }) else {
        throw .unknownAlgorithm(head.algorithm, keyID: head.keyID)
      }
      guard let known = ring.present.key(head.keyID) else { throw .unknownKey(id: head.keyID) }
      // A key is for one algorithm.
      guard known.algorithm.number == head.algorithm else { throw .notAuthentic(keyID: head.keyID) }
      let opened: Data? = unsafe withContext(of: head, key, keyspace) { context in
        unsafe Self.opened(bytes, known, context)
      }
      guard let opened else { throw .notAuthentic(keyID: head.keyID) }
      return opened
    }

    private static func opened(_ bytes: RawSpan, _ key: KeyRing.Key, _ context: UnsafeRawBufferPointer) -> Data? {
      unsafe bytes.withUnsafeBytes { bytes in
        let box = unsafe UnsafeRawBufferPointer(rebasing: bytes[headLength...])
        return switch key.algorithm {
        case .aesGCM:
          unsafe try? AES.GCM.open(AES.GCM.SealedBox(combined: box), using: key.secret, authenticating: context)
        case .chaChaPoly:
          unsafe try? ChaChaPoly.open(ChaChaPoly.SealedBox(combined: box), using: key.secret, authenticating: context)
        }
      }
    }

    /// Calls `body` with all that is authenticated besides the value.
    private static func withContext<R>(
      of head: Head,
      _ key: RawSpan,
      _ keyspace: String,
      _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
      var name = keyspace
      return name.withUTF8 { name in
        let length = headLength + 4 + name.count
        return unsafe withUnsafeTemporaryAllocation(byteCount: length + key.byteCount, alignment: 8) { buffer in
          unsafe head.store(into: buffer)
          unsafe buffer.storeBytes(of: UInt32(name.count).littleEndian, toByteOffset: headLength, as: UInt32.self)
          unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[(headLength + 4)...])
            .copyMemory(from: UnsafeRawBufferPointer(name))
          unsafe key.withUnsafeBytes { key in
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[length...]).copyMemory(from: key)
          }
          return unsafe body(UnsafeRawBufferPointer(buffer))
        }
      }
    }
  }

  extension KeyRing.Algorithm {
    /// As it stands in sealed values.
    var number: UInt8 {
      switch self {
      case .aesGCM: 1
      case .chaChaPoly: 2
      }
    }
  }
#endif
