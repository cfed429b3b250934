/// A storage that can show all that is stored, also what cannot be read. Others are checked by listing them.
protocol CheckableStorage<Key, Value>: StorageProtocol {
  /// Calls `body` with each entry that is stored and has not expired, as of one instant, and `progress` with the share that was read.
  /// What either throws ends it, and is thrown as it is.
  func forEachFinding(
    progress: (Double) throws(StorageError) -> Void,
    _ body: (Finding<Key, Value>) throws(StorageError) -> Void
  ) throws(StorageError)
}

/// A stored entry, whether it can be read or not.
struct Finding<Key: Sendable, Value: Sendable> {
  /// Nil if it cannot be read.
  var key: Key?
  /// The key's bytes; nil if they cannot be read, or there are none.
  var bytes: [UInt8]?
  /// What a read finds.
  var outcome: Result<Entry<Value>, StorageError>
}

/// Calls `body` with each entry of a storage; see ``CheckableStorage``.
///
/// - Throws: ``StorageError/unsupported(operation:view:)`` if it can be neither checked nor listed; what `progress` and `body` throw.
func findAll<Key: Sendable, Value: Sendable>(
  of base: any StorageProtocol<Key, Value>,
  progress: (Double) throws(StorageError) -> Void,
  _ body: (Finding<Key, Value>) throws(StorageError) -> Void
) throws(StorageError) {
  if let checkable = base as? any CheckableStorage<Key, Value> {
    return try checkable.forEachFinding(progress: progress, body)
  }
  guard let listed = base as? any EnumerableStorage<Key, Value> else {
    throw .unsupported(operation: "be checked: check what is behind it", view: base.name)
  }
  let total = Double(max(1, try listed.count()))
  var done = 0.0
  func found(_ finding: Finding<Key, Value>) throws(StorageError) {
    try progress(min(1, done / total))
    try body(finding)
    done += 1
  }
  try listed.forEachEntry { (error) throws(StorageError) in
    try found(Finding(outcome: .failure(error)))
  } _: { (key, entry) throws(StorageError) in
    try found(Finding(key: key, outcome: .success(entry)))
  }
  try progress(1)
}
