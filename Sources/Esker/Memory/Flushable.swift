/// Something that may hold what is not written yet.
@usableFromInline
protocol Flushable: AnyObject, Sendable {
  /// Whether there is nothing.
  var isEmpty: Bool { get }

  /// Writes it, and returns when it is written.
  func flush() throws(StorageError)
}
