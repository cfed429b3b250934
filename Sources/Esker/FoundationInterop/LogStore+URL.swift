public import Foundation

extension LogStore {
  /// Opens the store at a file URL, or creates it if nothing exists there, or only an empty directory.
  ///
  /// ```swift
  /// let store = try LogStore(at: URL.temporaryDirectory.appending(path: "cities.esker"))
  /// ```
  ///
  /// A slash at the end makes no difference. The directory above it must exist; ``LogStore/init(named:in:options:)`` makes it.
  ///
  /// - Throws: `StoreError.notAStore` with the whole URL if it is not a file's, names another host, or cannot be a path: it
  ///   encodes a slash, a zero byte or what is not UTF-8. What `init(at:options:)` with a path throws.
  public convenience init(at url: URL, options: Options = Options()) throws(StoreError) {
    try self.init(at: try Self.path(of: url), options: options)
  }

  private static func path(of url: URL) throws(StoreError) -> String {
    let url = url.absoluteURL
    let encoded = url.path(percentEncoded: true).uppercased()
    let path = url.path
    guard url.isFileURL, ["", "localhost"].contains(url.host() ?? ""), !path.isEmpty, !encoded.contains("%2F"),
      !encoded.contains("%00")
    else { throw .notAStore(path: url.absoluteString) }
    return path
  }
}
