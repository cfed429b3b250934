import ArgumentParser
import Esker

/// Runs lines of commands on an open store.
struct ShellSession {
  let opened: OpenedStore
  /// The keyspace of commands that name none; nil for what they do by themselves.
  private(set) var keyspace: String?
  /// The exit code of the first command that failed.
  private(set) var firstFailure: Int32?

  /// The tool's commands that work on a store.
  static let commands = EskerTool.configuration.subcommands.filter { $0 is any StoreCommand.Type }

  init(_ opened: OpenedStore) {
    self.opened = opened
  }

  /// Runs a line; false if it ends the shell. Errors are reported.
  mutating func run(_ line: String) -> Bool {
    defer { DamageReports.reportOthers() }
    do {
      let words = try ShellWords.split(line)
      guard let name = words.first, !name.hasPrefix("#") else { return true }
      if name == "quit" || name == "exit" { return false }
      if name == "use" { return try use(Array(words.dropFirst())) }
      if name == "help" { try showHelp(Array(words.dropFirst())) } else { try run(name, Array(words.dropFirst())) }
    } catch {
      let code = reported(error) ?? Self.reportParser(error)
      if code != ExitStatus.success, firstFailure == nil { firstFailure = code }
    }
    return true
  }

  /// Lets the commands that follow use a keyspace, or none.
  private mutating func use(_ arguments: [String]) throws -> Bool {
    guard arguments.count <= 1 else { throw ToolError.oneKeyspace }
    if let name = arguments.first, !name.isEmpty {
      try opened.store.refresh()
      let names = try opened.store.keyspaceNames.sorted()
      guard names.contains(name) else {
        throw ToolError.noKeyspace(name, path: opened.path, meant: nearest(to: name, among: names))
      }
    }
    keyspace = arguments.first
    return true
  }

  private func run(_ name: String, _ arguments: [String]) throws {
    try check(name)
    guard var command = try parsed(name, arguments) as? any StoreCommand else { return }
    command.store.opened = opened
    try command.run()
  }

  /// The command, with the keyspace in use if it takes one and names none.
  private func parsed(_ name: String, _ arguments: [String]) throws -> ParsableCommand {
    let plain = Result { try EskerTool.parseAsRoot([name, opened.path] + arguments) }
    let takers = Self.commands.filter { $0 is any KeyspaceCommand.Type }
    guard let keyspace, CommandNames(takers).names.contains(name) else { return try plain.get() }
    if case .success(let command) = plain {
      guard let command = command as? any KeyspaceCommand, command.takesKeyspace, command.keyspace.keyspace == nil
      else {
        return command
      }
    }
    // It may be wrong only without one.
    do { return try EskerTool.parseAsRoot([name, opened.path, "--keyspace", keyspace] + arguments) } catch {
      return try plain.get()
    }
  }

  private func check(_ name: String) throws(ToolError) {
    let names = CommandNames(Self.commands)
    if !names.names.contains(name), CommandNames(EskerTool.configuration.subcommands).names.contains(name) {
      throw .notInShell(name)
    }
    try names.check([name])
  }

  private func showHelp(_ names: [String]) throws {
    if let name = names.first { try check(name) }
    let help = ShellHelp(commands: Self.commands)
    let command = names.first.flatMap { name in Self.commands.first { CommandNames([$0]).names.contains(name) } }
    try BufferedOutput.print(command.map { help.text(of: $0) + "\n" } ?? help.overview)
  }

  /// Reports what the parser says: help to standard output, errors to the other.
  private static func reportParser(_ error: any Error) -> Int32 {
    let text = ShellHelp.withoutStore(EskerTool.fullMessage(for: error))
    let code = EskerTool.exitCode(for: error).rawValue
    if code == ExitStatus.success {
      try? BufferedOutput.print(text + "\n")
    } else if !text.isEmpty {
      StandardError.write(text + "\n")
    }
    return code
  }
}
