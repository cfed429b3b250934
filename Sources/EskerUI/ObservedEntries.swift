public import Esker
public import Observation

/// All entries of a storage, for a view that lists them: it follows every change, whoever makes it.
///
/// ```swift
/// struct Scores: View {
///   @State var scores: ObservedEntries<String, Int>       // ObservedEntries(try store.storage("scores"))
///   var body: some View { ForEach(scores.keys.sorted(), id: \.self) { Text("\($0): \(scores[$0] ?? 0)") } }
/// }
/// ```
///
/// A batch or a transaction changes `values` once. For storages of which all entries fit into memory. The main actor never waits for a
/// read; the storage is observed as long as the object lives. Keys are compared by `==`, unlike in the storage: of two texts that are
/// equal but differ in their bytes, the last to change is shown.
@MainActor @Observable
public final class ObservedEntries<Key: Hashable & Sendable, Value: Sendable> {
  /// The values by their keys.
  public private(set) var values: [Key: Value] = [:]
  /// Why the entries cannot be shown: the storage could not be read or observed. nil once it could.
  public private(set) var error: StorageError?
  /// Whether the entries were read.
  public private(set) var isLoaded = false

  @ObservationIgnored private let following = Following()

  /// The keys, in no particular order.
  public var keys: [Key] { Array(values.keys) }

  /// The value under `key`; nil when there is none.
  public subscript(key: Key) -> Value? { values[key] }

  /// Follows the entries of `storage`. Entries that cannot be read are left out.
  public init(_ storage: some EnumerableStorage<Key, Value> & ObservableStorage<Key, Value>) {
    // First the changes, then the entries, so that none is missed in between.
    do throws(StorageError) {
      let batches = try storage.batches()
      following.task = Task { [weak self] in
        let read = { () async throws(StorageError) in try await storage.async.entries(skippingUnreadable: true) }
        await self?.load(read)
        for await batch in batches {
          guard let self else { return }
          if error == nil, Self.apply(batch.changes, to: &values) { continue }
          // The values are not those that the changes apply to.
          await load(read)
        }
        if !Task.isCancelled { self?.error = reasonOfEnd(of: storage) }
      }
    } catch {
      self.error = error
    }
  }

  /// Applies what a batch has done, as one change of `values`; false if changes were missed.
  private static func apply(_ changes: [StorageChange<Key, Value>], to values: inout [Key: Value]) -> Bool {
    for change in changes {
      switch change {
      case .set(let key, _, let after): values[key] = after
      case .removed(let key, _), .expired(let key, _), .evicted(let key, _): values[key] = nil
      case .removedAll: values = [:]
      // Left out, as when the entries are read.
      case .unreadable(let key, _): if let key { values[key] = nil }
      case .missed: return false
      case .closed: break
      }
    }
    return true
  }

  private func load(_ read: () async throws(StorageError) -> [(key: Key, entry: Entry<Value>)]) async {
    do throws(StorageError) {
      values = Dictionary(try await read().map { ($0.key, $0.entry.value) }) { _, last in last }
      error = nil
      isLoaded = true
    } catch {
      if case .cancelled = error { return }
      self.error = error
    }
  }
}
