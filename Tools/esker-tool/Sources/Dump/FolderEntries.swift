import Esker
import Foundation

/// Entries as files of a folder, one for each key, whose names tell the keys; see ``FileNames/percent``.
struct FolderEntries: EntryFormatter {
  /// Nil: what would be written is only counted.
  private let folder: String?
  /// Nil to write bytes.
  private var forms: EntryForms?

  init(_ folder: String?, _ forms: EntryForms?) {
    self.folder = folder
    self.forms = forms
  }

  var header: [UInt8] { [] }

  mutating func write(_ entry: borrowing Snapshot.Entry, to output: inout BufferedOutput) throws {
    let pair = forms?[entry.keyspace] ?? EntryForms.Pair()
    let (key, value) = (text(try entry.key(), pair.keys), text(try entry.value(), pair.values))
    let name = FileNames.percent(of: key)
    guard name.utf8.count <= 255 else {
      throw ToolError.notRepresentable(
        key: "\"\(name.prefix(40))...\"",
        why: "is longer than the name of a file can be"
      )
    }
    // What is counted.
    try output.write(value)
    guard let folder else { return }
    let path = "\(folder)/\(name)"
    let descriptor = SystemCalls.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o644)
    guard descriptor >= 0 else {
      guard errno == EEXIST else { throw ToolError.system(operation: "create", path: path, errno: errno) }
      throw ToolError.notRepresentable(
        key: "\"\(name)\"",
        why: "has the same file as another one: this file system takes upper and lower case alike"
      )
    }
    defer { close(descriptor) }
    var file = BufferedOutput(descriptor: descriptor, name: path)
    try file.write(value)
    try file.flush()
  }

  private func text(_ bytes: [UInt8], _ form: StoredForm) -> [UInt8] {
    form.isTranslated ? form.text(of: bytes).map { Array($0.utf8) } ?? bytes : bytes
  }
}

/// Calls `body` with a new or empty folder, and removes what is in it after an error.
///
/// All is durable when the call returns.
func withFolder(_ path: String, _ body: () throws -> Void) throws {
  let isNew = SystemCalls.status(path) == nil
  if isNew {
    do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) } catch {
      throw ToolError.system(operation: "create", path: path, errno: errno)
    }
  } else if (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty != true {
    throw ToolError.outputExists(path: path)
  }
  do {
    try body()
    // One call for all: a sync of each file would take most of the time.
    sync()
  } catch {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names { SystemCalls.remove("\(path)/\(name)") }
    if isNew { SystemCalls.removeDirectory(path) }
    throw error
  }
}
