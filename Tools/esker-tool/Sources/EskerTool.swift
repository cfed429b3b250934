import ArgumentParser
import Esker
import EskerPlatform
import Foundation

@main
struct EskerTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "esker",
    abstract: "Inspect and change an Esker store.",
    discussion: """
      A store is a directory. Commands that only read work beside a process that has the store open for writing.

      Exit codes: 0 done; 1 no such key, a line that cannot be loaded, damage or a difference found; 64 wrong usage; 66 no such store or \
      input file; 74 input or output failed; 75 another process has the store open for writing; 130 interrupted.

      Example:
        esker put cities.esker at Vienna
        esker get cities.esker at
      """,
    version: LogStore.version,
    groupedSubcommands: groups.map { CommandGroup(name: $0.name, subcommands: $0.commands) }
  )

  static let groups: [(name: String, commands: [any ParsableCommand.Type])] = [
    (
      "Entry",
      [
        Put.self, Get.self, Edit.self, Delete.self, List.self, First.self, Last.self, Count.self, Exists.self,
        Increment.self, TTL.self, Touch.self, Persist.self,
      ]
    ),
    ("Bulk", [Load.self, Dump.self, Copy.self, Clear.self, Drop.self, Keyspaces.self, Shell.self]),
    ("Report", [Stats.self, Big.self, Diff.self, Watch.self, Follow.self, Inspect.self, Map.self]),
    ("Upkeep", [Settings.self, Verify.self, Merge.self, Backup.self, Restore.self, Repair.self, Bench.self]),
  ]

  // Closures written in this function would be bound to the main actor and checked at each call, so it contains none and
  // only calls `runTool`.
  static func main() {
    Foundation.exit(runTool())
  }
}

/// Runs the command given on the command line and returns the exit code.
nonisolated private func runTool() -> Int32 {
  // A closed pipe is to be an error of `write`, not a signal.
  signal(SIGPIPE, SIG_IGN)
  StandardStreams.occupyClosedDescriptors()
  // Each segment of a store is a file.
  DescriptorLimit.raise()
  defer { DamageReports.reportOthers() }
  do {
    try requireTextArguments()
    if CommandLine.arguments.dropFirst() == [ManualPage.option] {
      try BufferedOutput.print(ManualPage(of: EskerTool.groups).text)
      return ExitStatus.success
    }
    if let script = CompletionScript.asked(for: Array(CommandLine.arguments.dropFirst())) {
      try BufferedOutput.print(script)
      return ExitStatus.success
    }
    try CommandNames(EskerTool.configuration.subcommands).check(Array(CommandLine.arguments.dropFirst()))
    var command = try EskerTool.parseAsRoot()
    do { try command.run() } catch {
      if (command as? any JSONPrinting)?.json == true { try JSONError(error)?.write() }
      throw error
    }
    return ExitStatus.success
  } catch {
    guard let code = reported(error) else {
      // Help, version and usage errors: the parser knows the text, the stream and the exit code.
      if EskerTool.exitCode(for: error) == .validationFailure,
        let hint = DashHint.text(for: Array(CommandLine.arguments.dropFirst()))
      {
        StandardError.report(hint)
      }
      EskerTool.exit(withError: error)
    }
    return code
  }
}

/// Reports an error of a command and returns its exit code; nil for what only the parser can report.
nonisolated func reported(_ error: any Error) -> Int32? {
  switch error {
  case StoreError.cancelled where Interruption.isRequested:
    let error = ToolError.interrupted(signal: Interruption.signalNumber ?? SIGINT)
    StandardError.report(error.description)
    return ExitStatus.code(for: error)
  case StoreError.damaged(let location, let reason):
    DamageReports.report(location, reason)
    return ExitStatus.code(for: StoreError.damaged(location, reason: reason))
  case StoreError.locked(let path, let holder):
    let holder = holder == 0 ? "another process" : "process \(holder)"
    StandardError.report(
      "\(path) is open for writing in \(holder): end that, or use a command that only reads (list, get, stats, dump and others)"
    )
    return ExitStatus.locked
  case let error as StoreError:
    StandardError.report(error.description)
    return ExitStatus.code(for: error)
  case let error as ToolError:
    if !error.isReported { StandardError.report(error.description) }
    return ExitStatus.code(for: error)
  default: return nil
  }
}

/// Rejects arguments that Swift would silently repair: a repaired key is a different key.
nonisolated private func requireTextArguments() throws(ToolError) {
  for position in 1..<max(1, Int(CommandLine.argc)) {
    // Safety: there are `argc` of them, each ends with a zero, and nothing changes them.
    guard let argument = unsafe CommandLine.unsafeArgv[position] else { return }
    guard unsafe String(validatingCString: argument) != nil else { throw .argumentNotUTF8(position: position) }
  }
}
