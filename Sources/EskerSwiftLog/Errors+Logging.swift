#if SwiftLog
  internal import Esker

  extension StorageError {
    /// What happened and where, without keys and values. Underlying errors may contain them, so only their type is included.
    var textForLog: String {
      switch self {
      case .store(let error): error.textForLog
      case .encoding(let view, let type, let underlying):
        "\(view): a value of type \(type) cannot be encoded: \(Self.name(of: underlying))"
      case .decoding(_, let view, let expected, let underlying):
        "\(view): a value that is kept is not \(expected): \(Self.name(of: underlying))"
      case .key(_, let view, let underlying): "\(view): a key cannot be used: \(Self.name(of: underlying))"
      case .rejected(_, let view, let underlying): "\(view): a value was rejected: \(Self.name(of: underlying))"
      case .back(let name, let underlying): "\(name) failed: \(Self.name(of: underlying))"
      case .producer(let underlying): "a value could not be produced: \(Self.name(of: underlying))"
      case .unsupported, .form, .unnamed, .cancelled: description
      }
    }

    private static func name(of error: any Error) -> String { "\(type(of: error))" }
  }

  extension StoreError {
    /// The description, without the key of a damaged record.
    var textForLog: String {
      guard case .damaged(var location, let reason) = self else { return description }
      location.key = nil
      return StoreError.damaged(location, reason: reason).description
    }
  }
#endif
