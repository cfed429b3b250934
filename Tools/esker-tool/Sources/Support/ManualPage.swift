import ArgumentParser
import Foundation

/// The manual page of the tool, in the macros of man(7), from the help of its commands.
struct ManualPage {
  /// What a program is called with to print it; it is for those who install it, and no command.
  static let option = "---manual"

  private static let exitStatus: [(code: String, meaning: String)] = [
    ("0", "done"),
    ("1", "no such key or keyspace, a line that cannot be loaded, damage or a difference found"),
    ("2", "of diff: a store is damaged, so that it cannot be told whether they differ"),
    ("64", "wrong usage"), ("66", "no such store or input file"),
    ("74", "input or output failed, or the volume is full"),
    ("75", "another process has the store open for writing"), ("130, 143", "interrupted, or ended by a signal"),
  ]

  private static let environment: [(name: String, meaning: String)] = [
    ("VISUAL, EDITOR", "The editor of esker edit; vi without either."),
    ("ESKER_HISTORY", "The file in which esker shell keeps lines, instead of ~/.esker_history; empty for none."),
    ("NO_COLOR", "If it is not empty, reports have no color."),
    ("TERM", "\"dumb\" stands for a terminal without color."),
    ("COLUMNS", "The width of a terminal that does not report it."),
    ("TMPDIR", "Where esker edit puts the value that is edited."),
  ]

  private static let files: [(name: String, meaning: String)] = [
    ("~/.esker_history", "The lines of esker shell, which only their owner can read."),
    ("STORE/manifest.a, STORE/manifest.b", "What the store consists of, twice."),
    ("STORE/*.segment", "The entries."),
    ("STORE/*.checkpoint", "A copy of the index, which makes opening fast."),
    ("STORE/LOCK", "Held by the process that has the store open for writing; it names it."),
  ]

  private var page = ""

  var text: String { page }

  init(of groups: [(name: String, commands: [any ParsableCommand.Type])]) {
    let root = EskerTool.configuration
    page = ".TH ESKER 1 \"\" \"esker \(Self.escaped(root.version))\" \"General Commands Manual\"\n"
    heading("NAME")
    paragraph("esker - inspect and change an Esker store")
    heading("SYNOPSIS")
    page += ".B esker\n\\fIcommand\\fR [\\fIstore\\fR] [\\fIargument\\fR ...]\n"
    heading("DESCRIPTION")
    let parts = root.discussion.components(separatedBy: "\n\n")
    for part in parts where !part.hasPrefix("Exit codes:") && !part.hasPrefix("Example") { paragraph(part) }
    for group in groups {
      heading("\(group.name.uppercased()) COMMANDS")
      for command in group.commands { add(command) }
    }
    heading("ENVIRONMENT")
    for variable in Self.environment { item(variable.name, variable.meaning) }
    heading("FILES")
    for file in Self.files { item(file.name, file.meaning) }
    heading("EXIT STATUS")
    for status in Self.exitStatus { item(status.code, status.meaning) }
  }

  private mutating func add(_ command: any ParsableCommand.Type) {
    page += ".SS \(Self.escaped(CommandNames([command]).names.joined(separator: ", ")))\n"
    // As on a terminal: examples and options keep their lines.
    page += ".nf\n"
    for line in EskerTool.helpMessage(for: command, columns: 76).split(
      separator: "\n",
      omittingEmptySubsequences: false
    ) {
      guard !line.hasPrefix("  --version "), !line.hasPrefix("  -h, --help ") else { continue }
      page += line.isEmpty ? ".sp\n" : Self.escaped(line) + "\n"
    }
    page += ".fi\n"
  }

  private mutating func heading(_ text: String) { page += ".SH \(text)\n" }

  private mutating func paragraph(_ text: String) { page += ".PP\n\(Self.escaped(text))\n" }

  private mutating func item(_ name: String, _ meaning: String) {
    page += ".TP\n.B \(Self.escaped(name))\n\(Self.escaped(meaning))\n"
  }

  /// Text without a meaning for roff, of which a line may begin with a dot or an apostrophe.
  private static func escaped(_ text: some StringProtocol) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let escaped = String(line).replacing("\\", with: "\\e").replacing("-", with: "\\-")
      return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }.joined(separator: "\n")
  }
}
