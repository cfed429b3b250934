import ArgumentParser
import Esker

/// Completes the commands of a shell, their options, keyspaces, and keys.
struct ShellCompleter {
  let store: LogStore
  let commands: [any ParsableCommand.Type]

  /// - Parameter keyspace: That of commands that name none.
  func completion(of line: [Character], in keyspace: String? = nil) -> LineCompletion {
    let split = ShellWords(line)
    guard let typed = split.words.last else { return LineCompletion(start: line.count) }
    let before = split.words.dropLast()
    var completion = LineCompletion(start: split.lastStart)
    var isPartial = false
    let candidates: [String]
    if before.isEmpty || before == ["help"] {
      candidates = names(isHelp: !before.isEmpty)
    } else if ["--keyspace", "-k"].contains(before.last) || before.last == "--into" || before == ["drop"]
      || before == ["use"]
    {
      candidates = (try? store.keyspaceNames.sorted()) ?? []
    } else if typed.hasPrefix("-") {
      candidates = options(of: before[0])
    } else if CommandNames.ofKeys.contains(before[0]), before[0] != "put" && before[0] != "set" || before.count == 1 {
      let keyspace = KeyCandidates.keyspace(namedIn: before) ?? keyspace ?? ""
      let found = KeyCandidates(beginningWith: typed, in: keyspace, of: store)
      (candidates, isPartial) = (found.keys, found.isPartial)
    } else {
      return completion
    }
    completion.candidates = candidates.filter { $0.hasPrefix(typed) }
    completion.isPartial = isPartial
    // Of candidates that are not all, nothing can be concluded.
    guard !isPartial, let first = completion.candidates.first else { return completion }
    let common = completion.candidates.reduce(first) { $0.commonPrefix(with: $1) }
    let isWhole = completion.candidates.count == 1
    if isWhole || common.count > typed.count {
      completion.replacement = ShellWords.typed(common) + (isWhole ? " " : "")
    }
    return completion
  }

  private func names(isHelp: Bool) -> [String] {
    CommandNames(commands).names.sorted() + (isHelp ? [] : ["help", "quit", "use"])
  }

  /// Those that the command's help names.
  private func options(of name: String) -> [String] {
    guard let command = commands.first(where: { CommandNames([$0]).names.contains(name) }) else { return [] }
    let help = EskerTool.helpMessage(for: command)
    var seen: Set<String> = []
    return help.matches(of: /--[a-z][a-z-]+/).map { String($0.output) }.filter {
      $0 != "--version" && seen.insert($0).inserted
    }
  }
}

extension String {
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
