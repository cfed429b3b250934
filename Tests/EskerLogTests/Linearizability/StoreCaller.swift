import Dispatch
import EskerPlatform
import EskerTestSupport

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Somebody who calls a store, chooses what by a seed, and notes what came of it. Used by one thread at a time.
final class StoreCaller: @unchecked Sendable {
  typealias Model = KeyValueModel

  let name: String
  let keys: Int
  let recorder: HistoryRecorder<Model>
  var random: SeededGenerator
  /// Whether it is a task.
  var isTask = false
  var usesBatches = true
  var durability: Durability = .buffered
  /// Every value is another, so that whoever sees one knows which write it came from.
  private var next: Int
  /// What it has last read or written of each key.
  private var seen: [Int: Int] = [:]

  init(_ number: Int, keys: Int, _ recorder: HistoryRecorder<Model>, _ random: SeededGenerator) {
    name = "\(number)"
    self.keys = keys
    self.recorder = recorder
    next = (number + 1) * 1_000_000
    self.random = random
  }

  /// Lets others run, now and then.
  func pause() {
    if random.oneIn(4) { usleep(UInt32.random(in: 0..<100, using: &random)) }
  }

  /// One operation. Throws what it threw, and notes what may have happened all the same.
  func step(_ store: LogStore, _ space: Keyspace) throws(StoreError) {
    let call = choose()
    let called = recorder.tick()
    if case .snapshot = call { return try noteSnapshot(store, space, calledAt: called) }
    do throws(StoreError) {
      let outcome = isTask ? try Self.wait(for: call, store, space, durability) : try perform(call, store, space)
      recorder.note(name, call, outcome, calledAt: called)
      remember(call, outcome)
    } catch {
      // What fails otherwise has no effect.
      if case .outcomeUnknown = error { recorder.note(name, call, nil, calledAt: called) }
      throw error
    }
  }

  /// A snapshot shows one moment between the call and its return; it is read later, when others have gone on.
  private func noteSnapshot(_ store: LogStore, _ space: Keyspace, calledAt called: Int) throws(StoreError) {
    let snapshot = try store.snapshot()
    let returned = recorder.tick()
    var values = [Int?](repeating: nil, count: keys)
    for entry in snapshot.entries(in: space) {
      guard let key = Int(String(decoding: try entry.key(), as: UTF8.self)) else { continue }
      values[key] = Self.number(try entry.value())
    }
    recorder.note(name, .snapshot, .values(values), calledAt: called, returnedAt: returned)
  }

  private func remember(_ call: Model.Call, _ outcome: Model.Outcome) {
    switch (call, outcome) {
    case (.get(let key), .value(let value)), (.increment(let key, _), .value(let value)): seen[key] = value
    case (.put(let key, let value), _), (.exchange(let key, let value), _): seen[key] = value
    default: break
    }
  }

  private func value() -> Int {
    next += 1
    return next
  }

  private func choose() -> Model.Call {
    let key = Int.random(in: 0..<keys, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<34: return .get(key)
    case 34..<38: return .contains(key)
    case 38..<54: return .put(key, value())
    case 54..<62: return .remove(key)
    case 62..<66: return .putIfAbsent(key, value())
    case 66..<71:
      // By and by it meets the value that is there.
      return .compareAndSet(key, from: random.oneIn(3) ? nil : seen[key], to: value())
    case 71..<79: return .increment(key, by: 1)
    case 79..<84: return .exchange(key, value())
    case 84..<92 where usesBatches:
      let some = (0..<keys).filter { _ in random.oneIn(2) }
      let chosen = some.isEmpty ? [key] : some
      return .batch(chosen, chosen.map { _ in random.oneIn(4) ? nil : value() })
    case 92..<94: return .removeAll
    default: return .snapshot
    }
  }

  static func bytes(_ value: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  static func number(_ bytes: [UInt8]?) -> Int? {
    bytes.map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } }
  }

  private func perform(
    _ call: Model.Call,
    _ store: LogStore,
    _ space: Keyspace
  ) throws(StoreError) -> Model.Outcome {
    switch call {
    case .get(let key): return .value(Self.number(try space.get("\(key)")))
    case .contains(let key): return .wasDone(try space.contains("\(key)"))
    case .put(let key, let value): try space.put(Self.bytes(value), forKey: "\(key)", durability: durability)
    case .remove(let key): return .wasDone(try space.remove("\(key)", durability: durability))
    case .putIfAbsent(let key, let value):
      return .wasDone(try space.putIfAbsent(Self.bytes(value), forKey: "\(key)", durability: durability) != nil)
    case .compareAndSet(let key, let old, let new):
      let old = old.map(Self.bytes)
      return .wasDone(
        try space.compareAndSet(Self.bytes(new), forKey: "\(key)", ifValue: old, durability: durability) != nil
      )
    case .increment(let key, let amount):
      return .value(Int(try space.increment("\(key)", by: Int64(amount), durability: durability)))
    case .exchange(let key, let value):
      var old: [UInt8]?
      try space.update(forKey: "\(key)", durability: durability) { (present) throws(StoreError) in
        old = nil
        if let present { old = present.withUnsafeBytes { Array($0) } }
        return .put(Self.bytes(value))
      }
      return .value(Self.number(old))
    case .batch(let keys, let values):
      try store.write(durability: durability) { (batch) throws(StoreError) in
        try Self.fill(&batch, keys, values, space)
      }
    case .removeAll: try space.removeAll(durability: durability)
    case .clear, .snapshot, .putExpiring, .advance: preconditionFailure("\(call)")
    }
    return .done
  }

  private static func fill(
    _ batch: inout WriteBatch,
    _ keys: [Int],
    _ values: [Int?],
    _ space: Keyspace
  ) throws(StoreError) {
    for (key, value) in zip(keys, values) {
      if let value {
        try batch.put(bytes(value), forKey: "\(key)", in: space)
      } else {
        try batch.remove("\(key)", in: space)
      }
    }
  }

  private final class Shared: Sendable {
    let value = Guarded<Result<Model.Outcome, StoreError>?>(nil)
  }

  /// The same in a task, for which this thread waits.
  private static func wait(
    for call: Model.Call,
    _ store: LogStore,
    _ space: Keyspace,
    _ durability: Durability
  ) throws(StoreError) -> Model.Outcome {
    let shared = Shared()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do throws(StoreError) {
        let outcome = try await perform(call, store, space, durability)
        shared.value.withLock { $0 = .success(outcome) }
      } catch {
        shared.value.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    done.wait()
    guard let outcome = shared.value.withLock({ $0 }) else { preconditionFailure("no outcome") }
    return try outcome.get()
  }

  private static func perform(
    _ call: Model.Call,
    _ store: LogStore,
    _ space: Keyspace,
    _ durability: Durability
  ) async throws(StoreError) -> Model.Outcome {
    switch call {
    case .get(let key): return .value(number(try await space.async.get("\(key)")))
    case .contains(let key): return .wasDone(try await space.async.contains("\(key)"))
    case .put(let key, let value): _ = try await space.async.put(bytes(value), forKey: "\(key)", durability: durability)
    case .remove(let key): return .wasDone(try await space.async.remove("\(key)", durability: durability))
    case .putIfAbsent(let key, let value):
      return .wasDone(try await space.async.putIfAbsent(bytes(value), forKey: "\(key)", durability: durability) != nil)
    case .compareAndSet(let key, let old, let new):
      let old = old.map(bytes)
      return .wasDone(
        try await space.async.compareAndSet(bytes(new), forKey: "\(key)", ifValue: old, durability: durability) != nil
      )
    case .increment(let key, let amount):
      return .value(Int(try await space.async.increment("\(key)", by: Int64(amount), durability: durability)))
    case .exchange(let key, let value):
      var old: [UInt8]?
      _ = try await space.async.update(forKey: "\(key)", durability: durability) { (present) throws(StoreError) in
        old = nil
        if let present { old = present.withUnsafeBytes { Array($0) } }
        return .put(bytes(value))
      }
      return .value(number(old))
    case .batch(let keys, let values):
      try await store.async.write(durability: durability) { (batch) throws(StoreError) in
        try fill(&batch, keys, values, space)
      }
    case .removeAll: try await space.async.removeAll(durability: durability)
    case .clear, .snapshot, .putExpiring, .advance: preconditionFailure("\(call)")
    }
    return .done
  }
}
