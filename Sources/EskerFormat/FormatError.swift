/// Why bytes are not the structure that was expected.
public enum FormatError: Error, Hashable, Sendable {
  /// The bytes do not start as the structure does.
  case notThisKind
  /// The structure is intact, and of a version that this one cannot read.
  case newerVersion(UInt32)
  /// The structure is intact, and uses features that this version does not know: a bit each.
  case unknownFeatures(UInt32)
  /// The bytes at `offset` within the structure, or the structure from there on, are not what was written.
  case damaged(reason: String, offset: Int)
}
