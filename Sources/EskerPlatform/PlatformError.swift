/// Why a call to the operating system failed.
public struct PlatformError: Error, Hashable, Sendable {
  /// The operation as a verb: `open`, `write`, `sync`.
  public var operation: String
  /// The file or directory it was about.
  public var path: String
  /// The C error number.
  public var code: Int32

  /// Says that `operation` on `path` failed with the C error number `code`.
  public init(_ operation: String, path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }
}
