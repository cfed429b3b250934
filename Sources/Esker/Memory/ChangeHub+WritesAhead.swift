/// What waits in the windows of all fronts of the keyspace, as the engine asks for it.
extension ChangeHub: WritesAhead {
  @usableFromInline
  func writeWaiting() throws(StoreError) {
    for window in windowsToWriteFirst {
      do throws(StorageError) { try window.writeWaiting() } catch { throw storeError(error) }
    }
  }

  /// Fronts keep nothing from then on, so that a read of a closed store finds it closed.
  @usableFromInline
  func close() throws(StoreError) {
    var failure: StoreError?
    for window in currentWindows {
      do throws(StorageError) { try window.close() } catch { failure = failure ?? storeError(error) }
    }
    for front in currentFronts {
      front.enterRemovalOfAll()
      front.release()
    }
    if let failure { throw failure }
  }

  /// Drops a key from all fronts.
  func drop(_ key: RawSpan) {
    announcing(key) {}
    for front in currentFronts { front.release() }
  }

  private func storeError(_ error: StorageError) -> StoreError {
    if case .store(let error) = error { return error }
    return .failed(operation: "flush queued values (\(error)) to", path: keyspace.store.path, errno: 0)
  }
}
