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
/// For storages of which all entries fit into memory. The main actor never waits for a read; the storage is observed as long as the
/// object lives. Keys are compared by `==`, unlike in the storage: of two texts that are equal but differ in their bytes, the last
/// to change is shown.
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
      let changes = try storage.changes()
      following.task = Task { [weak self] in
        let read = { () async throws(StorageError) in try await storage.async.entries(skippingUnreadable: true) }
        await self?.load(read)
        for await change in changes {
          switch change {
          case .closed: break
          // The values are not those that the change applies to.
          case _ where self?.error != nil: await self?.load(read)
          case .set(let key, _, let after): self?.values[key] = after
          case .removed(let key, _), .expired(let key, _), .evicted(let key, _): self?.values[key] = nil
          case .removedAll: self?.values = [:]
          case .missed: await self?.load(read)
          // Left out, as when the entries are read.
          case .unreadable(let key, _): if let key { self?.values[key] = nil }
          }
        }
        if !Task.isCancelled { self?.error = reasonOfEnd(of: storage) }
      }
    } catch {
      self.error = error
    }
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
