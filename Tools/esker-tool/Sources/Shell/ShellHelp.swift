import ArgumentParser

/// The help of the commands, as they are given in a shell: without the store.
struct ShellHelp {
  let commands: [any ParsableCommand.Type]

  /// All commands, a line each.
  var overview: String {
    let lines =
      commands.map { ($0._commandName, $0.configuration.abstract) } + [
        ("use", "Let the commands that follow use a keyspace; alone, none."), ("help", "Show the help of a command."),
        ("quit", "Leave; so does ctrl-D."),
      ]
    let width = lines.reduce(0) { max($0, $1.0.count) } + 2
    return lines.map { name, abstract in
      name + String(repeating: " ", count: width - name.count) + abstract + "\n"
    }.joined()
  }

  /// The help of a command.
  func text(of command: any ParsableCommand.Type) -> String {
    var text = EskerTool.helpMessage(for: command)
    // The examples are those of the command line.
    if let examples = text.range(of: "\nExample"), let usage = text.range(of: "\nUSAGE:"),
      examples.lowerBound < usage.lowerBound
    {
      text.removeSubrange(examples.lowerBound..<usage.lowerBound)
    }
    return Self.withoutStore(text).replacing(/\n  --version .*(?=\n)/, with: "")
  }

  /// The parser's text without the name of the tool and the argument that the shell adds.
  static func withoutStore(_ text: String) -> String {
    text.replacing("esker ", with: "").replacing(" <store>", with: "", maxReplacements: 1)
      .replacing(/\n  <store> +The store's directory\.(?=\n)/, with: "").replacing("\n\nARGUMENTS:\n\n", with: "\n\n")
  }
}
