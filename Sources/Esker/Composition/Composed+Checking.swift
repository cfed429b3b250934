extension Composed: CheckableStorage where Step: StorageStep.Listing {
  func forEachFinding(
    progress: (Double) throws(StorageError) -> Void,
    _ body: (Finding<Key, Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try findAll(of: base, progress: progress) { (behind: Finding<Base.Key, Base.Value>) throws(StorageError) in
      if let finding = self.finding(behind) { try body(finding) }
    }
  }

  /// What was found behind, as the step shows it; nil if it shows nothing of it.
  private func finding(_ behind: Finding<Base.Key, Base.Value>) -> Finding<Key, Value>? {
    var key: Key?
    do throws(StorageError) {
      if let inner = behind.key { key = try step.outer(inner) }
      let entry = try behind.outcome.get()
      guard let known = key, let found = try step.outer(entry, known) else { return nil }
      return Finding(key: key, bytes: behind.bytes, outcome: .success(found))
    } catch {
      return Finding(key: key, bytes: behind.bytes, outcome: .failure(step.translated(error)))
    }
  }
}
