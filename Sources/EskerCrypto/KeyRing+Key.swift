#if Crypto
  public import Crypto
  internal import Foundation

  extension KeyRing {
    /// How a key seals. Both have keys of 256 bits, random nonces of 96 bits, and 128 bits that authenticate.
    public enum Algorithm: String, Hashable, Sendable, CaseIterable {
      /// AES-256 in Galois/Counter Mode: the faster one, where the processor has instructions for it.
      case aesGCM = "aes-gcm"
      /// ChaCha20-Poly1305 (RFC 8439).
      case chaChaPoly = "chacha20-poly1305"
    }

    /// A key of 256 bits, what it is called, and the algorithm that it is for, which never changes.
    public struct Key: Sendable {
      /// Names the key in each value that it sealed. No other key may ever have it: choose the next number, or a date such as 20261130.
      public let id: UInt32
      /// How it seals.
      public let algorithm: Algorithm
      let secret: SymmetricKey

      /// A key that is at hand.
      ///
      /// - Throws: ``Failure/length(id:bits:)`` unless it has 256 bits.
      public init(id: UInt32, _ secret: SymmetricKey, algorithm: Algorithm = .aesGCM) throws(Failure) {
        guard secret.bitCount == 256 else { throw .length(id: id, bits: secret.bitCount) }
        self.id = id
        self.algorithm = algorithm
        self.secret = secret
      }

      /// A key in base64, of 44 characters.
      ///
      /// - Throws: ``Failure/notBase64(id:)``, ``Failure/length(id:bits:)``.
      public init(id: UInt32, base64: String, algorithm: Algorithm = .aesGCM) throws(Failure) {
        guard let bytes = Data(base64Encoded: base64) else { throw .notBase64(id: id) }
        try self.init(id: id, SymmetricKey(data: bytes), algorithm: algorithm)
      }

      /// A new key, from the system's generator of random numbers.
      public static func random(id: UInt32, algorithm: Algorithm = .aesGCM) -> Key {
        Key(id, SymmetricKey(size: .bits256), algorithm)
      }

      private init(_ id: UInt32, _ secret: SymmetricKey, _ algorithm: Algorithm) {
        self.id = id
        self.algorithm = algorithm
        self.secret = secret
      }

      /// The key in base64. **A secret.**
      public var base64: String {
        // Safety: the bytes are copied before the closure returns.
        unsafe secret.withUnsafeBytes { unsafe Data($0) }.base64EncodedString()
      }

      func isSame(as other: Key) -> Bool {
        id == other.id && algorithm == other.algorithm && secret == other.secret
      }
    }
  }

  extension KeyRing.Key: CustomStringConvertible, CustomReflectable {
    /// The id and the algorithm, without the key.
    public var description: String { "Key(\(id), \(algorithm.rawValue))" }
    /// Nothing: no key gets into a log this way.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
  }
#endif
