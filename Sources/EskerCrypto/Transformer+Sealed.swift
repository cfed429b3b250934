#if Crypto
  public import Esker

  extension Transformer {
    /// This form, sealed: encrypted, and bound to the key and the keyspace under which a value is stored.
    ///
    /// ```swift
    /// let letters = try store.storage("letters", transformer: Transformer<Letter>.binary.then(.lz4).sealed(with: keys))
    /// ```
    ///
    /// A value that was changed, that was sealed with a key which the ring does not have, or that stood under another key or in another
    /// keyspace, is refused: `StorageError.decoding` with a ``SealingError``. Sealing comes last:
    /// compress before it. <doc:EskerCrypto> says what it protects against, and what it does not.
    public func sealed(with keys: KeyRing) -> Transformer { then(.sealed(with: keys)) }
  }

  extension ByteTransformer {
    /// Encrypts bytes with the current key of a ring, and binds them to their key and keyspace; see ``Esker/Transformer/sealed(with:)``.
    public static func sealed(with keys: KeyRing) -> ByteTransformer {
      .bound(id: "sealed") { bytes, key, keyspace, body in
        try SealedValue.seal(bytes, key, keyspace, with: keys, body)
      } decode: { bytes, key, keyspace, body in
        let opened = try SealedValue.open(bytes, key, keyspace, with: keys)
        try opened.withBytes { (bytes) throws in try body(bytes) }
      }
    }
  }
#endif
