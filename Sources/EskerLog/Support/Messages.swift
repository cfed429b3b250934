package import EskerFormat
internal import EskerPlatform

/// The system's message for an error number, with advice where the message gives none.
package func errorMessage(_ code: Int32) -> String {
  let words = PlatformError.message(code)
  return switch code {
  case PlatformError.tooManyFiles:
    "\(words) (this process has reached its limit of open files: raise it with ulimit -n, or close other files, and try again)"
  case PlatformError.tooManyFilesOnMachine:
    "\(words) (the whole machine has reached its limit of open files: end other programs or raise the limit, and try again)"
  case PlatformError.tryAgain:
    "\(words) (another process that uses the store was always ahead: try again)"
  case PlatformError.isLink:
    "\(words) (it is a symbolic link, and those among a store's files are not followed: put the file itself there)"
  case PlatformError.tooManyLinks:
    "\(words) (it is not one of Esker's files, and has another name elsewhere: move it away, and try again)"
  default: words
  }
}

extension StoreError {
  /// Translates an error in decoding the bytes of a file, which begin at the offset `base`.
  package init(_ error: FormatError, in path: String, base: Int = 0, what: String) {
    switch error {
    case .notThisKind:
      self = .damaged(StoreError.Location(path: path, offset: base), reason: "this is not \(what)")
    case .newerVersion(let version):
      self = .unknownFormat(path: path, version: version)
    case .unknownFeatures(let features):
      self = .damaged(
        StoreError.Location(path: path, offset: base),
        reason: "\(what) needs features this version of Esker does not have (\(features))"
      )
    case .damaged(let reason, let offset):
      self = .damaged(StoreError.Location(path: path, offset: base + offset), reason: "\(what): \(reason)")
    }
  }
}

extension FormatError {
  /// What is wrong, without naming the file.
  var words: String {
    switch self {
    case .notThisKind: "it does not have the header of such a file"
    case .newerVersion(let version): "it has version \(version), which is unknown"
    case .unknownFeatures(let features): "it needs unknown features (\(features))"
    case .damaged(let reason, let offset): "\(reason) (offset \(offset))"
    }
  }
}

extension StoreError {
  /// A writer has changed meanwhile what this reader was reading: it must begin again.
  static func overtaken(at path: String) -> StoreError {
    .failed(operation: "follow the writer of", path: path, errno: PlatformError.tryAgain)
  }
}
