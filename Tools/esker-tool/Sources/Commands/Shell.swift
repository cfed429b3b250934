import ArgumentParser
import Esker
import Foundation

struct Shell: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell",
    abstract: "Give many commands to one open store.",
    discussion: """
      Opens the store once, and takes the tool's own commands, one per line and without the store: "get at" is \
      "esker get cities.esker at". On a terminal, lines are edited as in other shells, with a history, and the tab key completes \
      commands, options, keyspaces and keys. Quotes and backslashes keep spaces; nothing is expanded. Ctrl-C stops a command, or \
      gives up a line; ctrl-D or "quit" leaves. "help" shows the commands. "use sessions" lets the commands that follow use that \
      keyspace where they name none; "use" alone ends that.

      The shell has the store for itself; with --read-only, it works beside a process that writes, and shows what that has \
      written. Lines are kept in ~/.esker_history, which only you can read, or where ESKER_HISTORY says; one that begins with a \
      space is not.

      Lines from a pipe or a file are taken too. All are run, and the exit code is that of the first command that failed; \
      --bail stops there. A line that begins with "#" is none.

      Examples:
        esker shell cities.esker
        esker shell cities.esker --read-only
        printf 'put at Vienna\\nget at\\n' | esker shell cities.esker --create
      """
  )

  @OptionGroup var store: StoreArguments

  @Flag(help: "Only read, also while another process writes.")
  var readOnly = false

  @Flag(help: "Create the store if there is none.")
  var create = false

  @Flag(help: "Stop at the first command that fails.")
  var bail = false

  func validate() throws {
    if create, readOnly { throw ValidationError("--create and --read-only exclude each other.") }
  }

  func run() throws {
    if !create { try store.require() }
    Interruption.install()
    let notices = StoreNotices()
    var options = Options()
    options.readOnly = readOnly
    options.sharing = .inTurn(patience: StoreArguments.patience)
    options.onEvent = { notices.receive($0) }
    // The parser takes what begins with a dash for an option.
    let path = store.store.hasPrefix("-") ? "./" + store.store : store.store
    let opened = OpenedStore(
      path: path,
      store: try LogStore(at: path, options: options),
      isReadOnly: readOnly,
      notices: notices
    )
    var session = ShellSession(opened)
    do {
      if LineEditor.isPossible { try converse(&session) } else { try runLines(&session) }
    } catch {
      try? opened.store.close()
      throw error
    }
    try opened.store.close()
    if let code = session.firstFailure, bail || !LineEditor.isPossible { throw ExitCode(code) }
  }

  /// Runs the lines of a pipe or a file.
  private func runLines(_ session: inout ShellSession) throws {
    var lines = try CommandLines()
    while let line = try lines.next(), session.run(line) {
      try Interruption.check()
      if bail, session.firstFailure != nil { return }
    }
  }

  /// Runs what is typed.
  private func converse(_ session: inout ShellSession) throws {
    if !store.quiet { StandardError.write("\"help\" shows the commands, ctrl-D leaves\n") }
    let completer = ShellCompleter(store: session.opened.store, commands: ShellSession.commands)
    let history = LineHistory(at: LineHistory.userPath)
    let name = escaped(Array(URL(fileURLWithPath: store.store).standardizedFileURL.lastPathComponent.utf8))
    let usual = UsualKeyspace()
    var editor = LineEditor(prompt: "", history) { completer.completion(of: $0, in: usual.name) }
    while true {
      usual.name = session.keyspace
      let place = session.keyspace.map { "\(name)/\(escaped(Array($0.utf8)))" } ?? name
      editor.prompt = place + (readOnly ? " (read-only)> " : "> ")
      switch try editor.read() {
      case .end: return
      case .abandoned: continue
      case .text(let line):
        guard session.run(line) else { return }
        if bail, session.firstFailure != nil { return }
        // Ctrl-C ends the command and not the shell.
        if Interruption.signalNumber == SIGINT { Interruption.rearm() }
        try Interruption.check()
      }
    }
  }
}

/// What completion is told of the session.
private final class UsualKeyspace {
  var name: String?
}
