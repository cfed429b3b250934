import Esker
import Foundation

/// The files of a folder and of those within it, each the value of a key that its name tells. Hidden files are left out.
struct FolderSource: RecordSource {
  static let unit = "file"

  private let folder: String
  private let names: FileNames
  private let known: [String: String]
  private let expiresModified: Bool
  /// Where the value is in a file of JSON; nil: the whole file.
  private let path: ValuePath?
  private let limit: Int
  private var files: [String] = []
  private var next = 0
  private var key: [UInt8] = []
  private var value: [UInt8] = []
  private(set) var expiry: Expiry?

  init(
    _ folder: String,
    _ names: FileNames,
    _ known: [String: String],
    expiresModified: Bool,
    path: ValuePath?,
    limit: Int
  ) {
    self.folder = folder
    self.names = names
    self.known = known
    self.expiresModified = expiresModified
    self.path = path
    self.limit = limit
  }

  /// Lists the files, in the order of their names.
  mutating func begin(_ reader: inout LineReader) throws {
    guard let list = FileManager.default.enumerator(atPath: folder) else {
      throw ToolError.system(operation: "list", path: folder, errno: errno)
    }
    for case let name as String in list where !name.split(separator: "/").contains(where: { $0.hasPrefix(".") }) {
      try Interruption.check()
      if list.fileAttributes?[.type] as? FileAttributeType == .typeRegular { files.append(name) }
    }
    files.sort()
  }

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    guard next < files.count else { return .end }
    let name = files[next]
    next += 1
    guard let key = names.key(of: name, known) else {
      if names == .md5 { return .notTaken(kind: "file of an unknown key") }
      return bad(name, "the name is not written as --names \(names.rawValue) says")
    }
    let path = "\(folder)/\(name)"
    expiry = nil
    if expiresModified, let status = SystemCalls.status(path) { expiry = .at(status.modified) }
    guard let bytes = try InputFile(path).readAll(limit: limit) else {
      return bad(name, "longer than \(NumberText.count(limit)) bytes: see --max-line")
    }
    self.key = key
    guard let wrapped = self.path else {
      value = bytes
      return .record
    }
    guard JSONCursor.isDocument(ContiguousArray(bytes).span) else {
      return bad(name, "not JSON, of which --unwrap could take a field")
    }
    guard let range = wrapped.find(in: ContiguousArray(bytes).span) else {
      return bad(name, "no such field as --unwrap says")
    }
    value = Array(bytes[range])
    return .record
  }

  private func bad(_ name: String, _ why: String) -> SourceStep {
    .bad(line: next, why: "\(escaped(Array(name.utf8))): \(why)")
  }

  func number(_ reader: borrowing LineReader) -> Int { next }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    try body(ContiguousArray(key).span, ContiguousArray(value).span)
  }
}

extension stat {
  /// When the file was last changed.
  fileprivate var modified: WallTime {
    #if canImport(Darwin)
      let time = st_mtimespec
    #else
      let time = st_mtim
    #endif
    return WallTime(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}

/// What a folder is by what is in it, if it is none of files for each key.
enum FolderKind {
  /// The store that a folder is of, and how to load that; nil if it is of none.
  static func foreign(_ folder: String) -> (what: String, remedy: String)? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    if names.contains(where: { $0.hasSuffix(".segment") }), names.contains("manifest.a") {
      return ("a store of Esker", "esker copy \(folder) STORE")
    }
    if names.contains("CURRENT"), names.contains(where: { $0.hasPrefix("MANIFEST-") }) {
      return ("a database of RocksDB or LevelDB", "ldb --db=\(folder) scan --hex | esker load STORE -")
    }
    if names.contains("data.mdb") { return ("a database of LMDB", "mdb_dump -a \(folder) | esker load STORE -") }
    return nil
  }
}
