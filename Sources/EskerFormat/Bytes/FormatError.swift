/// Why bytes are not the expected structure.
public enum FormatError: Error, Hashable, Sendable {
  /// The bytes do not start with the structure's magic number.
  case notThisKind
  /// The structure is intact, but of a version that this code cannot read.
  case newerVersion(UInt32)
  /// The structure is intact, but uses features that this code does not know: one bit each.
  case unknownFeatures(UInt32)
  /// The bytes at `offset` within the structure, or the structure from there on, are damaged.
  case damaged(reason: String, offset: Int)
}
