extension Entry: CustomStringConvertible {
  /// The value, where it was found and when it expires, such as `Vienna (from the log, version #3, expires after 60.0 seconds)`.
  public var description: String {
    var facts = ["\(origin)"]
    if let version { facts.append("version \(version)") }
    if expiry != .never { facts.append("expires \(expiry)") }
    return "\(value) (\(facts.joined(separator: ", ")))"
  }
}

extension StorageRequest.Origin: CustomStringConvertible {
  /// `from memory`, `from the log`, `from behind`, or `made now`.
  public var description: String {
    switch self {
    case .memory: "from memory"
    case .log: "from the log"
    case .back: "from behind"
    case .produced: "made now"
    }
  }
}
