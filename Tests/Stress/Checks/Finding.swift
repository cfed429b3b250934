/// Something that was never so, or an error where there is none to be.
struct Finding: Sendable {
  /// A short name that findings of one kind share.
  var kind: String
  /// What was expected, and what was seen.
  var text: String

  /// A file system that a cut has left cannot be mounted.
  static let unmountable = "mount fails"

  init(_ kind: String, _ text: String) {
    self.kind = kind
    self.text = text
  }
}
