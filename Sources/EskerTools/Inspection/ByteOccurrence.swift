/// A place in a store's files where a run of bytes was found.
public struct ByteOccurrence: Sendable, Hashable {
  /// Where the bytes stand.
  public enum Place: Sendable, Hashable {
    /// In the key of a record.
    case key(RecordDescription)
    /// In the value of a record.
    case value(RecordDescription)
    /// In none: behind or between records, in a dictionary, in a checkpoint, or in another file.
    case elsewhere
    /// Perhaps here: a packed record cannot be read.
    case unreadable(RecordDescription)
  }

  /// The file's path.
  public var path: String
  /// The offset in the file; of a packed record, that of the record.
  public var offset: Int
  /// Where that is.
  public var place: Place
}
