/// Something that may hold what is not written yet.
@usableFromInline
protocol Flushable: AnyObject, Sendable {
  /// Whether there is nothing.
  var isEmpty: Bool { get }

  /// Whether the calling thread is writing some of it.
  var isWrittenHere: Bool { get }

  /// Writes it on behalf of one who has set none of it, and returns when it is written. To the code of what is being written
  /// there is nothing.
  func writeWaiting() throws(StorageError)

  /// Writes it, and takes nothing any more.
  func close() throws(StorageError)
}
