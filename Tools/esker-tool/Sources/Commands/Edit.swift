import ArgumentParser
import Esker
import Foundation

struct Edit: KeyspaceCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change a value in an editor.",
    discussion: """
      Opens the value in the editor that VISUAL or EDITOR names, or vi: as text, and CBOR as JSON over several lines in which \
      instants, UUIDs, bytes and the like are marked as "put" takes them, so that they keep their types. What was written is \
      checked, and replaces the value with the same expiry, unless somebody has changed that meanwhile; the difference is then \
      printed. The store is not open while the editor is.

      If nothing is written, because of a mistake or a change, the file with the text is kept, and the message names it.

      Examples:
        esker edit game.esker 42 --keyspace boards
        EDITOR=nano esker edit cities.esker at
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The key.", completion: .keys)
  var key: String

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  private struct Found {
    var key: [UInt8]
    var metadata: ValueMetadata
    var bytes: [UInt8]
    var value: EditableValue
    var form: StoredForm
    var formName: String
  }

  func run() throws {
    let given = try encoding.given(key)
    let found = try store.read { store in try find(given, in: store) }
    let draft = try Draft(found.value.text, isJSON: found.form.containsCBOR || found.form == .json)
    do {
      try draft.edit()
      guard let edited = try draft.text(), let bytes = found.value.bytes(of: edited),
        let new = EditableValue(bytes, found.form)
      else { throw ToolError.editedToOtherForm(form: found.formName, kept: draft.path) }
      if new.text == found.value.text {
        if !store.quiet { StandardError.report("nothing was changed") }
        return draft.remove()
      }
      try replace(found, with: bytes, draft)
      draft.remove()
      try BufferedOutput.print(found.value.difference(to: new))
      if !store.quiet, let shape = ValueShape(of: bytes, found.form), let old = ValueShape(of: found.bytes, found.form)
      {
        ValueShape.report(shape.changes(from: old))
      }
    } catch ToolError.editorFailed(let editor, let status) {
      draft.remove()
      throw ToolError.editorFailed(editor, status: status)
    } catch let error as StoreError {
      StandardError.report("what you wrote is in \(draft.path)")
      throw error
    }
  }

  private func find(_ given: KeyEncodingOption.Given, in store: LogStore) throws -> Found {
    let keyspace = try keyspace.existing(in: store)
    let bytes = try given.bytes(in: keyspace)
    // The version first: a value that is written between the two is then refused later.
    guard let metadata = try keyspace.metadata(forKey: bytes), let value = try keyspace.get(bytes) else {
      throw ToolError.notFound(key)
    }
    var form = keyspace.shownValues
    var name = keyspace.valueForm ?? "utf8"
    var editable = EditableValue(value, form)
    if editable == nil, keyspace.valueForm == nil {
      // Where nothing is recorded, put --json has stored CBOR.
      (form, name) = (.cbor, "cbor")
      editable = EditableValue(value, form)
    }
    guard let editable else { throw ToolError.notEditable(key, form: keyspace.valueForm ?? "utf8 or cbor") }
    return Found(key: bytes, metadata: metadata, bytes: value, value: editable, form: form, formName: name)
  }

  private func replace(_ found: Found, with value: [UInt8], _ draft: Draft) throws {
    let version = try store.write(creating: false) { store in
      try keyspace.existing(in: store).compareAndSet(
        value,
        forKey: found.key,
        ifVersion: found.metadata.version,
        expiry: found.metadata.expiry
      )
    }
    guard version != nil else { throw ToolError.changedMeanwhile(key, kept: draft.path) }
  }
}

/// A file that is edited, in a directory that nobody else can read.
private struct Draft {
  let path: String
  private let directory: String

  init(_ text: String, isJSON: Bool) throws(ToolError) {
    let template = FileManager.default.temporaryDirectory.appendingPathComponent("esker-edit-XXXXXX").path
    guard let directory = SystemCalls.makeDirectory(template) else {
      throw .system(operation: "create", path: template, errno: errno)
    }
    self.directory = directory
    path = "\(directory)/value.\(isJSON ? "json" : "txt")"
    let descriptor = SystemCalls.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    guard descriptor >= 0 else { throw .system(operation: "create", path: path, errno: errno) }
    defer { close(descriptor) }
    var file = BufferedOutput(descriptor: descriptor, name: path)
    try file.write(text)
    // An editor would call a file without it incomplete.
    if !text.hasSuffix("\n") { try file.write("\n") }
    try file.flush()
  }

  /// Runs the editor to its end.
  func edit() throws(ToolError) {
    let environment = ProcessInfo.processInfo.environment
    let named = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty }
    let editor = named ?? "vi"
    let status = SystemCalls.run(shell: "\(editor) '\(path.replacing("'", with: "'\\''"))'")
    guard status == 0 else { throw .editorFailed(editor, status: status) }
  }

  /// What is in it now; nil if it is not UTF-8, or longer than any value.
  func text() throws(ToolError) -> String? {
    guard let bytes = try InputFile(path).readAll(limit: LogStore.maximumValueLength) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Removes both, and nothing else.
  func remove() {
    SystemCalls.remove(path)
    SystemCalls.removeDirectory(directory)
  }
}
