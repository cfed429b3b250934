#if Crypto
  internal import EskerPlatform

  extension KeyRing {
    /// Why there is no such ring of keys. No case has any part of a key.
    public enum Failure: Error, Hashable, Sendable {
      /// The key has another length than 256 bits.
      case length(id: UInt32, bits: Int)
      /// The key is not base64.
      case notBase64(id: UInt32)
      /// Two keys have the same id.
      case duplicate(id: UInt32)
      /// The ring has no key with that id.
      case unknown(id: UInt32)
      /// The current key cannot be taken out: rotate to another one before.
      case current(id: UInt32)
      /// There is no key in the text.
      case empty
      /// A line of the text is none.
      case malformed(line: Int, reason: String)
      /// The process has no such variable in its environment.
      case environment(variable: String)
      /// Others than its owner may use the file. It was not read.
      case permissions(path: String, mode: UInt32)
      /// The file belongs to another user, who is not root. It was not read.
      case owner(path: String, user: UInt32)
      /// The file cannot be read or written, with the system's error number; 0 if it is no file, or too long to be one of keys.
      case file(path: String, operation: String, errno: Int32)
    }
  }

  extension KeyRing.Failure: CustomStringConvertible {
    /// What is wrong, in one line.
    public var description: String {
      switch self {
      case .length(let id, let bits): "key \(id) has \(bits) bits, and not 256"
      case .notBase64(let id): "key \(id) is not base64"
      case .duplicate(let id): "two keys have the id \(id)"
      case .unknown(let id): "there is no key \(id)"
      case .current(let id): "key \(id) is the current one: rotate to another key first"
      case .empty: "there is no key in the text"
      case .malformed(let line, let reason): "line \(line) is no key: \(reason)"
      case .environment(let variable): "the environment has no variable \(variable)"
      case .permissions(let path, let mode):
        "\(path) has mode 0\(String(mode, radix: 8)): others than its owner may use it, so it was not read; `chmod 600` it"
      case .owner(let path, let user): "\(path) belongs to user \(user), so it was not read"
      case .file(let path, let operation, let errno):
        "cannot \(operation) \(path): \(errno == 0 ? "it is no file of keys" : PlatformError.message(errno))"
      }
    }
  }
#endif
