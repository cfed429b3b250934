// Steps that change only names, what is reported, and what is allowed.

extension StorageStep {
  /// Notifies a hook of every call; see ``StorageProtocol/tap(_:)``.
  public struct Tap<Key: Sendable, Value: Sendable>: Listing, Writing {
    /// Unchanged.
    public typealias InnerKey = Key
    /// Unchanged.
    public typealias InnerValue = Value

    let storage: String
    let hook: @Sendable (StorageRequest.Record) -> Void

    /// Now.
    public func began() -> ContinuousClock.Instant { .now }

    /// Notifies the hook of the call.
    public func ended(_ mark: ContinuousClock.Instant, _ kind: StorageRequest.Kind, _ error: StorageError?) {
      hook(StorageRequest.Record(storage: storage, kind: kind, duration: mark.duration(to: .now), error: error))
    }
  }

  /// Another name; see ``StorageProtocol/renaming(to:)``.
  public struct Rename<Key: Sendable, Value: Sendable>: Listing, Writing {
    /// Unchanged.
    public typealias InnerKey = Key
    /// Unchanged.
    public typealias InnerValue = Value

    let name: String

    /// The new name.
    public func name(_ inner: String) -> String { name }

    /// An error that names the view, under the name it has now.
    public func translated(_ error: StorageError) -> StorageError {
      switch error {
      case .encoding(_, let type, let underlying): .encoding(view: name, type: type, underlying: underlying)
      case .decoding(let key, _, let expected, let underlying):
        .decoding(key: key, view: name, expected: expected, underlying: underlying)
      case .key(let key, _, let underlying): .key(key, view: name, underlying: underlying)
      case .rejected(let key, _, let underlying): .rejected(key: key, view: name, underlying: underlying)
      case .unsupported(let operation, _): .unsupported(operation: operation, view: name)
      case .back(_, let underlying): .back(name: name, underlying: underlying)
      case .store, .form, .unnamed, .producer, .cancelled: error
      }
    }
  }

  /// For reading only; see ``AsyncReadableStorage/readOnly()``.
  public struct ReadOnly<Key: Sendable, Value: Sendable>: Listing {
    /// Unchanged.
    public typealias InnerKey = Key
    /// Unchanged.
    public typealias InnerValue = Value

    init() {}
  }

  /// For writing only; see ``AsyncWritableStorage/writeOnly()``.
  public struct WriteOnly<Key: Sendable, Value: Sendable>: Writing, Clearing {
    /// Unchanged.
    public typealias InnerKey = Key
    /// Unchanged.
    public typealias InnerValue = Value

    init() {}
  }
}

extension StorageProtocol {
  /// The same storage, with `hook` called at the end of each call, by the thread or task that made it. It should be brief.
  public func tap(_ hook: @escaping @Sendable (StorageRequest.Record) -> Void) -> Composed<
    Self, StorageStep.Tap<Key, Value>
  > {
    Composed(self, StorageStep.Tap(storage: name, hook: hook))
  }

  /// The same storage under another name, which errors and measurements show.
  public func renaming(to name: String) -> Composed<Self, StorageStep.Rename<Key, Value>> {
    Composed(self, StorageStep.Rename(name: name))
  }
}

extension AsyncReadableStorage {
  /// The same storage for reading only: the compiler refuses writes.
  public func readOnly() -> Composed<Self, StorageStep.ReadOnly<Key, Value>> { Composed(self, StorageStep.ReadOnly()) }
}

extension AsyncWritableStorage {
  /// The same storage for writing only: the compiler refuses reads.
  public func writeOnly() -> Composed<Self, StorageStep.WriteOnly<Key, Value>> {
    Composed(self, StorageStep.WriteOnly())
  }
}
