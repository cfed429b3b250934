public import Esker
public import Observation

/// The value under one key of a storage, for a view that shows it: it follows every change, whoever makes it.
///
/// ```swift
/// struct Greeting: View {
///   @State var user: ObservedValue<User>        // ObservedValue(users, forKey: "anna")
///   var body: some View { Text(user.value?.name ?? "…") }
/// }
/// ```
///
/// The main actor never waits for a read: a value that is not in memory arrives a moment later. The storage is observed as long as
/// the object lives. Changes are shown in their order, and of a batch its outcome, once. If changes were missed, or the value was
/// removed or cannot be read, it is read again.
@MainActor @Observable
public final class ObservedValue<Value: Sendable> {
  /// The value; nil when there is none, when it could not be read, or before it was read.
  public private(set) var value: Value?
  /// Why the value cannot be shown: it could not be read, or the storage not be observed. nil once it could.
  public private(set) var error: StorageError?
  /// Whether the value was read.
  public private(set) var isLoaded = false

  @ObservationIgnored private let following = Following()

  /// Follows the value under `key` of `storage`.
  public init<Key: Sendable>(_ storage: some ObservableStorage<Key, Value>, forKey key: Key) {
    // First the changes, then the value, so that none is missed in between.
    do throws(StorageError) {
      let batches = try storage.batches(forKey: key)
      // If memory fails, the read that follows says why. That is also the one that counts as a question to memory.
      if case .entry(let entry)? = try? storage.held(key, .again) { show(entry.value) }
      following.task = Task { [weak self] in
        let read = { () async throws(StorageError) in try await storage.async.value(forKey: key) }
        await self?.load(read)
        for await batch in batches {
          // What a batch has done to the key last is what is there.
          switch batch.changes.last {
          case .set(_, _, let after): self?.show(after)
          // The storage may have a default, or something else to show instead.
          case .removed, .removedAll, .expired, .evicted, .missed, .unreadable: await self?.load(read)
          case .closed, nil: break
          }
        }
        if !Task.isCancelled { self?.error = reasonOfEnd(of: storage) }
      }
    } catch {
      self.error = error
    }
  }

  private func show(_ value: Value?) {
    self.value = value
    error = nil
    isLoaded = true
  }

  private func load(_ read: () async throws(StorageError) -> Value?) async {
    do throws(StorageError) {
      show(try await read())
    } catch {
      if case .cancelled = error { return }
      // What was shown before is outdated.
      value = nil
      self.error = error
    }
  }
}

/// Why the changes of a storage have ended: the store was closed, or the keyspace removed. Whoever observes it then is told.
func reasonOfEnd(of storage: some ObservableStorage) -> StorageError {
  do throws(StorageError) { _ = try storage.changes() } catch { return error }
  return .store(.closed)
}

/// A task that ends with its owner.
@MainActor
final class Following {
  var task: Task<Void, Never>?

  isolated deinit { task?.cancel() }
}
