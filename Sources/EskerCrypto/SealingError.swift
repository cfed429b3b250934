#if Crypto
  /// Why a value cannot be opened. A storage throws it as the `underlying` error of `StorageError.decoding`, which names the key and the
  /// keyspace. The value is left as it is.
  public enum SealingError: Error, Hashable, Sendable {
    /// The bytes are no sealed value: they were written without `sealed(with:)`, or are too short.
    case notSealed
    /// The value was sealed by an algorithm that this version does not know, or its first bytes were changed.
    case unknownAlgorithm(UInt8, keyID: UInt32)
    /// The ring of keys has no key with that id.
    case unknownKey(id: UInt32)
    /// The value, its key or its keyspace are not those that were sealed, or another key has that id.
    case notAuthentic(keyID: UInt32)
    /// The value could not be sealed.
    case failed(keyID: UInt32)
  }

  extension SealingError: CustomStringConvertible {
    /// What is wrong, in one line.
    public var description: String {
      switch self {
      case .notSealed: "it is not sealed"
      case .unknownAlgorithm(let number, let id):
        "it was sealed with key \(id) by algorithm \(number), which is unknown"
      case .unknownKey(let id): "it was sealed with key \(id), which is not in the ring of keys"
      case .notAuthentic(let id):
        "it is not what was sealed with key \(id): it was changed or moved here from another key or keyspace, or key \(id) is another one now"
      case .failed(let id): "it could not be sealed with key \(id)"
      }
    }
  }
#endif
