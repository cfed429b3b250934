internal import EskerFormat

/// Names of the files in a store's directory.
enum FileName {
  static let manifests = ["manifest.a", "manifest.b"]
  static let temporary = "checkpoint.tmp"
  static let reserve = "reserve"
  static let statistics = "statistics"

  static func segment(_ id: UInt64) -> String { hex(id) + ".segment" }
  static func checkpoint(_ id: UInt64) -> String { hex(id) + ".checkpoint" }

  /// The id in a segment's name; nil for other names.
  static func segmentID(_ name: String) -> UInt64? { id(name, ".segment") }
  /// The id in a checkpoint's name; nil for other names.
  static func checkpointID(_ name: String) -> UInt64? { id(name, ".checkpoint") }

  /// Whether Esker may have created a file of this name before there was a manifest.
  static func isOurs(_ name: String) -> Bool {
    name == LockFile.name || name == temporary || name == reserve || manifests.contains(name)
      || segmentID(name) != nil || checkpointID(name) != nil
  }

  private static func hex(_ id: UInt64) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func id(_ name: String, _ suffix: String) -> UInt64? {
    guard name.count == 16 + suffix.count, name.hasSuffix(suffix) else { return nil }
    // No store reaches greater numbers: Esker has not created a file of such a name.
    return UInt64(name.prefix(16), radix: 16).flatMap { $0 <= Manifest.greatestID ? $0 : nil }
  }
}
