internal import EskerPlatform

/// A storage seen through a step: the type of every operator, such as `tap`, `mapValues` and `readOnly`.
///
/// It can do what its base can do and its step keeps: written as `some UpdatableStorage<Key, Value>`, or hidden in a
/// ``Storage``.
public struct Composed<Base: StorageProtocol, Step: StorageStep.Transforming>: StorageProtocol
where Step.InnerKey == Base.Key, Step.InnerValue == Base.Value {
  /// The type of keys.
  public typealias Key = Step.Key
  /// The type of values.
  public typealias Value = Step.Value

  /// What is behind.
  public let base: Base
  /// What is done with calls and entries.
  public let step: Step

  /// `base`, seen through `step`.
  @inlinable
  public init(_ base: Base, _ step: Step) {
    self.base = base
    self.step = step
  }

  /// The name of what is behind, or that which the step gives it.
  public var name: String { step.name(base.name) }

  /// The time of what is behind.
  public var time: WallTime { base.time }

  /// The identity of what is behind, unless the step turns or checks values.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity {
    var identity: StorageRequest.Identity
    do throws(StorageError) { identity = try base.identity(of: try step.inner(key)) } catch {
      throw step.translated(error)
    }
    if let number = step.number { identity.storage = number }
    return identity
  }
}

// MARK: Reading

extension Composed: AsyncReadableStorage where Base: AsyncReadableStorage, Step: StorageStep.Reading {
  /// What memory knows behind, as the step shows it.
  @inlinable
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    let mark = step.began()
    do throws(StorageError) {
      let known: Entry<Base.Value>?
      switch try base.held(try step.inner(key), call) {
      case .entry(let entry): known = entry
      case .absent where !step.mayTakeLong: known = nil
      default:
        step.ended(mark, .missedMemory, nil)
        return .unknown
      }
      let found = try step.outer(known, key)
      step.ended(mark, .read(found: found != nil), nil)
      if let found { return .entry(found) }
      return .absent
    } catch {
      // The step may rescue what failed, but only in the read that follows an unknown.
      if step.mayTakeLong { return .unknown }
      let error = step.translated(error)
      step.ended(mark, .missedMemory, error)
      throw error
    }
  }

  /// What is found behind, as the step shows it.
  @inlinable
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    let mark = step.began()
    do throws(StorageError) {
      let behind: Result<Entry<Base.Value>?, StorageError>
      do throws(StorageError) {
        behind = .success(try await base.asyncRead(try step.inner(key), call))
      } catch {
        behind = .failure(error)
      }
      let found: Entry<Value>?
      if step.mayTakeLong {
        found = try await shownByThread(behind, key, call)
      } else {
        found = try shown(behind, key, call)
      }
      step.ended(mark, .read(found: found != nil), nil)
      return found
    } catch {
      step.ended(mark, .read(found: false), error)
      throw error
    }
  }
}

extension Composed: ReadableStorage where Base: ReadableStorage, Step: StorageStep.Reading {
  /// What is found behind, as the step shows it.
  @inlinable
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    let mark = step.began()
    do throws(StorageError) {
      let behind: Entry<Base.Value>?
      do throws(StorageError) {
        behind = try base.read(try step.inner(key), call)
      } catch {
        let found = try rescued(error, key, call)
        step.ended(mark, .read(found: found != nil), nil)
        return found
      }
      let found = try shown(behind, key)
      step.ended(mark, .read(found: found != nil), nil)
      return found
    } catch {
      step.ended(mark, .read(found: false), error)
      throw error
    }
  }

  /// What is found behind, as the step shows it.
  public func read(several keys: [Key], _ call: StorageRequest.Read) throws(StorageError) -> [Entry<Value>?] {
    // One of them may need rescue, or must be reported.
    if step.mayTakeLong || Step.Mark.self != Void.self {
      var entries: [Entry<Value>?] = []
      for key in keys { entries.append(try read(key, call)) }
      return entries
    }
    do throws(StorageError) {
      var inner: [Base.Key] = []
      inner.reserveCapacity(keys.count)
      for key in keys { inner.append(try step.inner(key)) }
      var entries: [Entry<Value>?] = []
      entries.reserveCapacity(keys.count)
      for (key, found) in zip(keys, try base.read(several: inner, call)) { entries.append(try step.outer(found, key)) }
      return entries
    } catch {
      throw step.translated(error)
    }
  }

  /// What is known behind, as the step shows it.
  public func peek(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Void>? {
    let mark = step.began()
    do throws(StorageError) {
      let found: Entry<Void>?
      do throws(StorageError) {
        found = step.outer(peeked: try base.peek(try step.inner(key), call))
      } catch {
        found = try rescued(error, key, call)?.map { _ in }
      }
      step.ended(mark, .read(found: found != nil), nil)
      return found
    } catch {
      step.ended(mark, .read(found: false), error)
      throw error
    }
  }
}

extension Composed where Step: StorageStep.Reading {
  /// What the step shows of what was found behind.
  @inlinable
  func shown(_ behind: Entry<Base.Value>?, _ key: Key) throws(StorageError) -> Entry<Value>? {
    do throws(StorageError) { return try step.outer(behind, key) } catch { throw step.translated(error) }
  }

  @usableFromInline
  nonisolated(nonsending) func shownByThread(
    _ behind: Result<Entry<Base.Value>?, StorageError>,
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    try await IOThreads.shared.run { () throws(StorageError) in try shown(behind, key, call) }
  }

  /// What the step shows of the outcome of reading behind.
  @inlinable
  func shown(
    _ behind: Result<Entry<Base.Value>?, StorageError>,
    _ key: Key,
    _ call: StorageRequest.Read
  ) throws(StorageError) -> Entry<Value>? {
    switch behind {
    case .success(let found): try shown(found, key)
    case .failure(let error): try rescued(error, key, call)
    }
  }

  /// What the step makes of a failure. A task that was cancelled is told so, and what is to be changed on condition of what is
  /// there must not be replaced where it cannot be read.
  @inlinable
  func rescued(_ error: StorageError, _ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    if case .cancelled = error { throw error }
    let error = step.translated(error)
    if call.refusesUnversioned { throw error }
    var entry = try step.rescue(error, key)
    entry?.isTentative = true
    return entry
  }
}

// MARK: Writing

extension StorageRequest.Write {
  /// The kind of the call, when it has ended.
  @usableFromInline
  func kind(_ receipt: StorageRequest.Receipt?) -> StorageRequest.Kind {
    switch action {
    case .set: .set(isDone: receipt?.isDone ?? false)
    case .touch, .extend: .touch(isDone: receipt?.isDone ?? false)
    case .remove: .remove(found: receipt?.wasThere ?? false)
    }
  }
}

extension Composed: AsyncWritableStorage where Base: AsyncWritableStorage, Step: StorageStep.Writing {
  /// Writes behind what the step makes of it.
  @inlinable
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    let mark = step.began()
    do throws(StorageError) {
      let receipt = try await base.asyncWrite(try step.inner(key), try step.inner(call, key))
      step.ended(mark, call.kind(receipt), nil)
      return receipt
    } catch {
      let error = step.translated(error)
      step.ended(mark, call.kind(nil), error)
      throw error
    }
  }
}

extension Composed: WritableStorage where Base: WritableStorage, Step: StorageStep.Writing {
  /// Writes behind what the step makes of it.
  @inlinable
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    let mark = step.began()
    do throws(StorageError) {
      let receipt = try base.write(try step.inner(key), try step.inner(call, key))
      step.ended(mark, call.kind(receipt), nil)
      return receipt
    } catch {
      let error = step.translated(error)
      step.ended(mark, call.kind(nil), error)
      throw error
    }
  }
}

extension Composed: StorageRequest.AsyncUpdatable
where Base: StorageRequest.AsyncUpdatable, Step: StorageStep.Reading, Step: StorageStep.Writing {}

extension Composed: UpdatableStorage
where Base: UpdatableStorage, Step: StorageStep.Reading, Step: StorageStep.Writing {}

// MARK: All keys

extension Composed: EnumerableStorage where Base: EnumerableStorage, Step: StorageStep.Listing {
  /// Calls `body` with each key and entry behind, as the step shows them.
  public func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try showEntries(failure, body) { (failure, body) throws(StorageError) in
      try base.forEachEntry(onFailure: failure, body)
    }
  }

  /// Calls `body` with each key behind, as the step shows it.
  public func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    try showKeys(failure, body) { (failure, body) throws(StorageError) in
      try base.forEachKey(onFailure: failure, body)
    }
  }

  /// Shows the entries that `list` lists.
  fileprivate func showEntries(
    _ failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void,
    _ list:
      @escaping (
        (StorageError) throws(StorageError) -> Void,
        (Base.Key, Entry<Base.Value>) throws(StorageError) -> Void
      ) throws(StorageError) -> Void
  ) throws(StorageError) {
    var ofCaller: StorageError?
    do throws(StorageError) {
      try list(
        { (error) throws(StorageError) in
          try passing(&ofCaller) { () throws(StorageError) in try failure(step.translated(error)) }
        },
        { (innerKey, entry) throws(StorageError) in
          let key: Key
          let found: Entry<Value>?
          do throws(StorageError) {
            key = try step.outer(innerKey)
            found = try step.outer(entry, key)
          } catch {
            let error = step.translated(error)
            return try passing(&ofCaller) { () throws(StorageError) in try failure(error) }
          }
          if let found { try passing(&ofCaller) { () throws(StorageError) in try body(key, found) } }
        }
      )
    } catch {
      throw ofCaller ?? step.translated(error)
    }
  }

  /// Shows the keys that `list` lists.
  fileprivate func showKeys(
    _ failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void,
    _ list:
      @escaping (
        (StorageError) throws(StorageError) -> Void,
        (Base.Key) throws(StorageError) -> Void
      ) throws(StorageError) -> Void
  ) throws(StorageError) {
    var ofCaller: StorageError?
    do throws(StorageError) {
      try list(
        { (error) throws(StorageError) in
          try passing(&ofCaller) { () throws(StorageError) in try failure(step.translated(error)) }
        },
        { (innerKey) throws(StorageError) in
          let key: Key
          do throws(StorageError) { key = try step.outer(innerKey) } catch {
            let error = step.translated(error)
            return try passing(&ofCaller) { () throws(StorageError) in try failure(error) }
          }
          try passing(&ofCaller) { () throws(StorageError) in try body(key) }
        }
      )
    } catch {
      throw ofCaller ?? step.translated(error)
    }
  }

  /// Runs code of the caller's. What it throws is passed on as it is.
  fileprivate func passing(
    _ failure: inout StorageError?,
    _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    do throws(StorageError) { try body() } catch {
      failure = error
      throw error
    }
  }

  /// How many entries there are behind.
  public func count() throws(StorageError) -> Int {
    do throws(StorageError) { return try base.count() } catch { throw step.translated(error) }
  }
}

extension Composed: OrderedStorage where Base: OrderedStorage, Step: StorageStep.Listing, Step.Key == Base.Key {
  /// Calls `body` with each key of a range behind and its entry, as the step shows it, in order; see ``OrderedStorage``.
  public func forEachEntry(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try checkOrder()
    try showEntries(failure, body) { (failure, body) throws(StorageError) in
      try base.forEachEntry(in: range, order: order, limit: limit, onFailure: failure, body)
    }
  }

  /// Calls `body` with each key of a range behind, in order; see ``OrderedStorage``.
  public func forEachKey(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    try checkOrder()
    try showKeys(failure, body) { (failure, body) throws(StorageError) in
      try base.forEachKey(in: range, order: order, limit: limit, onFailure: failure, body)
    }
  }

  /// Other keys than those behind have another order, whatever their type.
  private func checkOrder() throws(StorageError) {
    if !step.keepsKeys { throw .unsupported(operation: "read its keys in order", view: name) }
  }
}

extension Composed: ClearableStorage
where Base: ClearableStorage, Step: StorageStep.Writing, Step: StorageStep.Clearing {
  /// Removes everything behind.
  public func removeAll(durability: Durability?) throws(StorageError) {
    do throws(StorageError) { try base.removeAll(durability: durability) } catch { throw step.translated(error) }
  }

  /// Removes what is expired behind; how much there was.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int {
    do throws(StorageError) { return try base.removeExpired() } catch { throw step.translated(error) }
  }
}

extension Composed: ObservableStorage where Base: ObservableStorage, Step: StorageStep.Listing {
  /// Calls `body` with every change behind, as the step shows it.
  public func observe(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    do throws(StorageError) {
      return try base.observe(only: try inner(key)) { [step] change in body(Self.shown(change, step)) }
    } catch {
      throw step.translated(error)
    }
  }

  /// Calls `body` with every change behind, as the step shows it, with those of a batch at once.
  public func observeBatches(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>.Batch) -> Void
  ) throws(StorageError) -> ObservationToken {
    do throws(StorageError) {
      return try base.observeBatches(only: try inner(key)) { [step] batch in
        body(StorageChange.Batch(batch.changes.map { Self.shown($0, step) }, sequence: batch.sequence))
      }
    } catch {
      throw step.translated(error)
    }
  }

  private func inner(_ key: Key?) throws(StorageError) -> Base.Key? {
    guard let key else { return nil }
    return try step.inner(key)
  }

  private static func shown(
    _ change: StorageChange<Base.Key, Base.Value>,
    _ step: Step
  ) -> StorageChange<Key, Value> {
    let shown = change.map(
      key: { (key) throws(StorageError) in try step.outer(key) },
      value: { (value, innerKey) throws(StorageError) in
        let key = try step.outer(innerKey)
        guard let shown = try step.outer(Entry(value, origin: .back), key) else {
          throw .unsupported(operation: "show this value", view: step.name(""))
        }
        return shown.value
      }
    )
    if case .unreadable(let key, let error) = shown { return .unreadable(key: key, step.translated(error)) }
    return shown
  }
}
