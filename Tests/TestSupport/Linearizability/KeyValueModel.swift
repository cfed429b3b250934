/// A map from a few keys, by number, to integers, as stores and the storages over them offer it.
public struct KeyValueModel: SequentialModel {
  /// What may be called.
  public enum Call: Hashable, Sendable {
    case get(Int)
    case contains(Int)
    case put(Int, Int)
    case remove(Int)
    case putIfAbsent(Int, Int)
    /// Nil: only if nothing is there.
    case compareAndSet(Int, from: Int?, to: Int)
    case increment(Int, by: Int)
    /// Stores a value and returns the one before.
    case exchange(Int, Int)
    case clear(Int)
    case removeAll
    /// Values, or nil for a removal, under keys in ascending order.
    case batch([Int], [Int?])
    /// The values of all keys at one moment.
    case snapshot
    /// A value that expires at an instant.
    case putExpiring(Int, Int, at: Int)
    /// The clock is set.
    case advance(to: Int)
  }

  /// What may come of it.
  public enum Outcome: Hashable, Sendable {
    case done
    case wasDone(Bool)
    case value(Int?)
    case values([Int?])
  }

  /// The values, when they expire, and the time.
  public struct State: Hashable, Sendable {
    var values: [Int?]
    var expiries: [Int]
    var time = 0

    func value(_ key: Int) -> Int? { expiries[key] > time ? values[key] : nil }

    mutating func put(_ value: Int?, _ key: Int, expiry: Int = .max) {
      values[key] = value
      expiries[key] = expiry
    }
  }

  /// Nothing, at time 0.
  public let initial: State
  private let keys: Int

  /// A map of so many keys.
  public init(keys: Int) {
    self.keys = keys
    initial = State(values: Array(repeating: nil, count: keys), expiries: Array(repeating: .max, count: keys))
  }

  /// The keys of a call; nil for all, as the clock is of all.
  public func parts(of call: Call) -> [Int]? {
    switch call {
    case .get(let key), .contains(let key), .put(let key, _), .remove(let key), .putIfAbsent(let key, _),
      .clear(let key),
      .compareAndSet(let key, _, _), .increment(let key, _), .exchange(let key, _), .putExpiring(let key, _, _):
      [key]
    case .batch(let keys, _): keys
    case .removeAll, .snapshot, .advance: nil
    }
  }

  /// The state after a call; nil if it cannot have had that outcome.
  public func state(after call: Call, _ outcome: Outcome?, in state: State) -> State? {
    var after = state
    let actual: Outcome
    switch call {
    case .get(let key): actual = .value(state.value(key))
    case .contains(let key): actual = .wasDone(state.value(key) != nil)
    case .snapshot: actual = .values((0..<keys).map(state.value))
    case .put(let key, let value):
      after.put(value, key)
      actual = .done
    case .putExpiring(let key, let value, let time):
      after.put(value, key, expiry: time)
      actual = .done
    case .remove(let key):
      after.put(nil, key)
      actual = .wasDone(state.value(key) != nil)
    case .putIfAbsent(let key, let value):
      return self.state(after: .compareAndSet(key, from: nil, to: value), outcome, in: state)
    case .compareAndSet(let key, let old, let new):
      let holds = state.value(key) == old
      if holds { after.put(new, key) }
      actual = .wasDone(holds)
    case .increment(let key, let amount):
      let sum = (state.value(key) ?? 0) + amount
      after.put(sum, key)
      actual = .value(sum)
    case .exchange(let key, let value):
      after.put(value, key)
      actual = .value(state.value(key))
    case .clear(let key):
      after.put(nil, key)
      actual = .done
    case .removeAll:
      for key in 0..<keys { after.put(nil, key) }
      actual = .done
    case .batch(let keys, let values):
      for (key, value) in zip(keys, values) { after.put(value, key) }
      actual = .done
    case .advance(let time):
      after.time = time
      actual = .done
    }
    return outcome == nil || outcome == actual ? after : nil
  }

  /// The history as those see it who read single keys, who may see a part of a batch: each of its writes by itself.
  public func keyByKey(
    _ history: [RecordedOperation<Call, Outcome>]
  ) -> [RecordedOperation<Call, Outcome>] {
    history.flatMap { operation -> [RecordedOperation<Call, Outcome>] in
      switch (operation.call, operation.outcome) {
      case (.batch(let keys, let values), let outcome):
        zip(keys, values).map { key, value in
          operation.seen(as: value.map { .put(key, $0) } ?? .clear(key), outcome)
        }
      case (.removeAll, let outcome): (0..<keys).map { operation.seen(as: .clear($0), outcome) }
      case (.snapshot, .values(let values)):
        values.enumerated().map { operation.seen(as: .get($0.offset), .value($0.element)) }
      default: [operation]
      }
    }
  }

  /// The history as snapshots see it: batches are whole. What read single keys and changed nothing is left out.
  public func wholeBatches(
    _ history: [RecordedOperation<Call, Outcome>]
  ) -> [RecordedOperation<Call, Outcome>] {
    history.filter { operation in
      switch (operation.call, operation.outcome) {
      case (.get, _), (.contains, _), (.compareAndSet, .wasDone(false)), (.putIfAbsent, .wasDone(false)): false
      default: true
      }
    }
  }
}
