import ArgumentParser

/// The benchmark program: `run` measures and reports, `cell` makes one measurement in a process of its own.
struct BenchmarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "esker-benchmark",
    abstract: "Measures Esker against the limit of what this machine can do, in the same run.",
    subcommands: [RunCommand.self, CellCommand.self],
    defaultSubcommand: RunCommand.self
  )
}
