import Esker

// The report as tables and as JSON.

extension FormReport {
  func write(to output: inout BufferedOutput) throws(ToolError) {
    let entries: [Table.Column] = [.right("ENTRIES"), .left("KEYS ARE"), .left("VALUES ARE"), .left("KEYSPACE")]
    try Table.write("FORMS", entries, to: &output, keyspaces) {
      [.count($0.entries), .form($0.keyForm), .form($0.valueForm), .keyspace($0.name)]
    }
    try writeGroups("NOT OF THE FORM", [.left("FORM"), .left("PART"), .left("IS")], to: &output, \.misfits) {
      [.text($0.form), .word($0.part.rawValue), .word($0.found)]
    }
    try writeGroups("VERSIONS OF VALUES", [.right("VERSION")], to: &output, \.versions) { [.number(UInt64($0))] }
    try writeGroups("FIELDS OF VALUES", [.left("FIELD"), .left("IS")], to: &output, \.fields) {
      [.text($0.path.isEmpty ? "." : $0.path), .word($0.kind.rawValue)]
    }
    try output.write("\n\(summary)\n")
  }

  /// What it comes to, in one line.
  private var summary: String {
    let read = keyspaces.reduce(0) { $0 + $1.entries }
    let unfit = keyspaces.reduce(0) { sum, keyspace in
      keyspace.misfits.all.reduce(sum + keyspace.misfits.others) { $0 + $1.entries }
    }
    let known = unfit == 0 ? "all of the recorded forms" : "\(NumberText.count(unfit)) not of the recorded form"
    return "read \(HumanUnits.entries(read)): \(known)"
      + (damaged > 0 ? ", \(NumberText.count(damaged, "damaged record")) left out" : "")
  }

  /// A table with a row for each group of each keyspace; nothing without any.
  private func writeGroups<Kind: Hashable>(
    _ heading: String,
    _ columns: [Table.Column],
    to output: inout BufferedOutput,
    _ groups: KeyPath<Keyspace, Groups<Kind>>,
    _ cells: (Kind) -> [Cell]
  ) throws(ToolError) {
    let rows = keyspaces.flatMap { keyspace in keyspace[keyPath: groups].all.map { (keyspace.name, $0) } }
    let all = [.right("ENTRIES"), .left("KEYSPACE")] + columns + [.left("SUCH AS")]
    try Table.write(heading, all, to: &output, rows) { name, group in
      let samples = group.samples.map { escaped($0) }.joined(separator: ", ")
      return [.count(group.entries), .keyspace(name)] + cells(group.kind) + [.word(samples)]
    }
    let others = keyspaces.reduce(0) { $0 + $1[keyPath: groups].others }
    guard others > 0 else { return }
    try output.write("and \(NumberText.count(others)) more, of too many kinds to be told apart\n")
  }

  /// Writes the report as a field of an object. Scripts rely on the names: add fields, but never rename or drop one.
  func write(to writer: inout JSONWriter) {
    writer.object("forms") { writer in
      writer.field("damaged", damaged)
      writer.list("keyspaces", keyspaces) { writer, keyspace in
        writer.field("name", keyspace.name)
        writer.field("keyForm", keyspace.keyForm)
        writer.field("valueForm", keyspace.valueForm)
        writer.field("entries", keyspace.entries)
        Self.write("misfits", keyspace.misfits, to: &writer) { writer, misfit in
          writer.field("part", misfit.part.rawValue)
          writer.field("form", misfit.form)
          writer.field("found", misfit.found)
        }
        Self.write("versions", keyspace.versions, to: &writer) { $0.field("version", Int($1)) }
        Self.write("fields", keyspace.fields, to: &writer) { writer, field in
          writer.field("field", field.path)
          writer.field("is", field.kind.rawValue)
        }
      }
    }
  }

  private static func write<Kind>(
    _ name: String,
    _ groups: Groups<Kind>,
    to writer: inout JSONWriter,
    _ fields: (inout JSONWriter, Kind) -> Void
  ) {
    writer.list(name, groups.all) { writer, group in
      fields(&writer, group.kind)
      writer.field("entries", group.entries)
      writer.list("samples", group.samples) { $0.field("key", bytes: $1) }
    }
    if groups.others > 0 { writer.field("other\(name.prefix(1).uppercased())\(name.dropFirst())", groups.others) }
  }
}

extension Cell {
  /// The name of a form; nothing where none is recorded.
  fileprivate static func form(_ name: String?) -> Cell { name.map { .text($0) } ?? .none }
}
