public import Foundation

/// Sentences for people who use a program, in English: `localizedDescription` is the first. For whoever develops it, printing
/// the error says the same in one line, with more detail.
extension StorageError: LocalizedError {
  /// What happened.
  public var errorDescription: String? {
    switch self {
    case .store(let error): error.errorDescription
    case .encoding(_, let type, _): "A value of type \(type) could not be saved."
    case .decoding(let key, _, _, _): "What is saved under “\(key)” could not be read."
    case .key(let key, _, _): "The key “\(key)” cannot be used."
    case .rejected(let key, _, _): "The value for “\(key)” is not allowed."
    case .unsupported(let operation, _): "This storage cannot \(operation)."
    case .form(_, let keyspace, _, _): "What is saved in “\(shownName(ofKeyspace: keyspace))” could not be opened."
    case .unnamed(let type): "Values of type \(type) could not be saved."
    case .back(let name, _): "“\(name)” could not be reached."
    case .producer: "The value could not be obtained."
    case .cancelled: "The operation was cancelled."
    }
  }

  /// Why it happened; nil where there is nothing to add.
  public var failureReason: String? {
    switch self {
    case .store(let error): error.failureReason
    case .encoding(_, _, let underlying), .key(_, _, let underlying), .rejected(_, _, let underlying),
      .back(_, let underlying), .producer(let underlying):
      reason(underlying)
    case .decoding(_, _, let expected, let underlying): "It is not \(expected): \(reason(underlying))"
    case .form(let part, _, let recorded, let asked): "The form of its \(part.rawValue) is \(recorded), not \(asked)."
    case .unnamed: "The type has no name that lasts."
    case .unsupported, .cancelled: nil
    }
  }

  /// What to do; nil where there is nothing to say.
  public var recoverySuggestion: String? {
    switch self {
    case .store(let error): error.recoverySuggestion
    case .encoding: "Nothing was changed."
    case .decoding: "It was left as it is. Remove it, or read it as the type that it was saved as."
    case .form: "It was left as it is. Open it as what it was saved as, or use another name."
    case .back, .producer: "Try again later."
    case .key, .rejected, .unsupported, .unnamed, .cancelled: nil
    }
  }
}

/// The sentence of an error that has one for people; otherwise what it prints as, which says more than Foundation's number.
private func reason(_ error: any Error) -> String {
  (error as? any LocalizedError)?.errorDescription ?? "\(error)"
}
