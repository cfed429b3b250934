import ArgumentParser

/// The scripts of the parser by which shells complete command lines, which also offer the commands behind "help".
enum CompletionScript {
  /// The script that a command line asks for; nil if it asks for none, or a shell that the parser does not know.
  static func asked(for arguments: [String]) -> String? {
    guard arguments.count == 2, arguments[0] == "--generate-completion-script",
      let shell = CompletionShell(rawValue: arguments[1])
    else { return nil }
    return text(for: shell)
  }

  private static func text(for shell: CompletionShell) -> String {
    let script = EskerTool.completionScript(for: shell)
    let names = CommandNames(EskerTool.configuration.subcommands.map(\.self)).names.joined(separator: " ")
    switch shell {
    case .bash:
      return replacing("__esker_offer_flags_options -1\n", in: script) {
        $0 + "    COMPREPLY+=($(compgen -W '\(names)' -- \"${cur}\"))\n"
      }
    case .zsh: return replacing("'*:subcommands:'", in: script) { _ in "'1:subcommands:(\(names))'" }
    case .fish:
      let offers = script.split(separator: "\n").filter { $0.contains("_positional \"esker\" -eq 1'") }
      return script + "\n"
        + offers.map { $0.replacing("_positional \"esker\"", with: "_positional \"esker help\"") + "\n" }.joined()
    default: return script + "\n"
    }
  }

  /// Replaces a text behind the beginning of what completes "help".
  private static func replacing(_ text: String, in script: String, _ change: (String) -> String) -> String {
    guard let start = script.firstRange(of: "\n_esker_help() {"),
      let range = script[start.upperBound...].firstRange(of: text)
    else { return script + "\n" }
    return script.replacingCharacters(in: range, with: change(text)) + "\n"
  }
}

extension String {
  fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
    self[..<range.lowerBound] + text + self[range.upperBound...]
  }
}
