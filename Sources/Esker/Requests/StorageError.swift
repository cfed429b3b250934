// Indirect: one word to hand through the layers of a composition, which pays for it where nothing is thrown.
/// Why a typed storage could not do what it was asked. Closed: a `switch` over it is exhaustive.
///
/// A storage that throws has changed nothing, unless the documentation of the operation says otherwise. After
/// `StoreError.outcomeUnknown`, the write may or may not be there once the store is opened again.
public indirect enum StorageError: Error, Sendable {
  /// The store underneath refused.
  case store(StoreError)
  /// The value cannot be turned into what the storage keeps. Nothing was written.
  case encoding(view: String, type: String, underlying: any Error)
  /// What is stored under the key is not what the view expects. It was left as it is.
  case decoding(key: String, view: String, expected: String, underlying: any Error)
  /// The key cannot be turned into bytes, or bytes of a stored key not into a key.
  case key(String, view: String, underlying: any Error)
  /// A condition on the value, set when the storage was composed, does not hold.
  case rejected(key: String, view: String, underlying: any Error)
  /// A storage of this kind cannot do what was asked: keep an expiry, check a condition, be used in a batch or a transaction, be observed, or
  /// show its bytes in another form.
  case unsupported(operation: String, view: String)
  /// The keyspace's keys, or its values, are kept in the form `recorded`, and the view asked for another. Nothing was changed.
  case form(of: Part, keyspace: String, recorded: String, asked: String)
  /// The type is private or local, so it has no name that is the same at the next launch. ``PinnedName`` gives it one.
  case unnamed(type: String)
  /// A storage of the caller's own failed.
  case back(name: String, underlying: any Error)
  /// The closure that was to produce a missing value failed.
  case producer(any Error)
  /// The waiting task was cancelled. An operation that had not begun has not happened.
  case cancelled

  /// What has a form in a keyspace.
  public enum Part: String, Hashable, Sendable, CaseIterable {
    /// The keys.
    case keys
    /// The values.
    case values
  }
}

extension StorageError {
  /// Whether a write that failed so may have been made all the same, or half of it. What was refused before anything was written was
  /// not.
  var leavesDoubt: Bool {
    switch self {
    case .store, .back: true
    case .encoding, .decoding, .form, .key, .rejected, .unsupported, .unnamed, .producer, .cancelled: false
    }
  }
}

extension StorageError: CustomStringConvertible {
  /// What happened, where, and why, in one line.
  public var description: String {
    switch self {
    case .store(let error):
      error.description
    case .encoding(let view, let type, let underlying):
      "\(view): a value of type \(type) cannot be encoded; nothing was written: \(underlying)"
    case .decoding(let key, let view, let expected, let underlying):
      "\(view): the value stored under \(key) is not \(expected) and was left unchanged: \(underlying)"
    case .key(let key, let view, let underlying):
      "\(view): the key \(key) cannot be used: \(underlying)"
    case .rejected(let key, let view, let underlying):
      "\(view): the value for \(key) was rejected: \(underlying)"
    case .unsupported(let operation, let view):
      "\(view): the storage behind this view cannot \(operation)"
    case .form(of: let part, let keyspace, let recorded, let asked):
      "\(shownName(ofKeyspace: keyspace)): its \(part.rawValue) have the form \(recorded), not \(asked); nothing was changed: \(part.remedy)"
    case .unnamed(let type):
      "values of \(type) cannot be kept by their id: a private or local type has no name that is the same at the next launch; "
        + "make it internal, or conform it to PinnedName"
    case .back(let name, let underlying):
      "\(name) failed: \(underlying)"
    case .producer(let underlying):
      "the value could not be produced: \(underlying)"
    case .cancelled:
      "the waiting task was cancelled"
    }
  }
}

/// The name of a keyspace in a message: the default keyspace has none.
@usableFromInline
func shownName(ofKeyspace name: String) -> String { name.isEmpty ? "(default)" : name }

/// Bytes of a key as text for a message: as they are when they are printable UTF-8, in hexadecimal otherwise, never long.
func printable(_ bytes: [UInt8]) -> String {
  let shown = bytes.prefix(64)
  let rest = bytes.count > shown.count ? "… \(bytes.count) bytes" : ""
  if let text = String(validating: shown, as: UTF8.self), text.unicodeScalars.allSatisfy({ $0.value >= 32 }) {
    return "\"\(text)\"\(rest)"
  }
  return "0x" + shown.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + rest
}

extension StorageError.Part {
  /// What can be done about another form.
  fileprivate var remedy: String {
    switch self {
    case .keys: "use keys of that form, or another name, or copy the entries to another keyspace"
    case .values: "use a type of that form, or another name, or give the form to be read as `transformer:`"
    }
  }
}

/// Runs `body`, and converts an error of the store to the one that users of a view get.
@inlinable
func translating<R>(_ body: () throws(StoreError) -> R) throws(StorageError) -> R {
  do throws(StoreError) {
    return try body()
  } catch {
    throw .store(error)
  }
}
