import ArgumentParser
import Esker

/// Completes the commands of a shell, their options, keyspaces, and keys.
struct ShellCompleter {
  let store: LogStore
  let commands: [any ParsableCommand.Type]

  /// Keys have no order: they are looked for as long as somebody waits for an answer.
  private static let patience = Duration.milliseconds(300)
  private static let mostCandidates = 100

  /// Commands whose arguments are keys.
  private static let keyCommands = [
    "get", "put", "edit", "set", "delete", "rm", "del", "exists", "ttl", "touch", "persist", "increment",
  ]

  func completion(of line: [Character]) -> LineCompletion {
    let split = ShellWords(line)
    guard let typed = split.words.last else { return LineCompletion(start: line.count) }
    let before = split.words.dropLast()
    var completion = LineCompletion(start: split.lastStart)
    var isPartial = false
    let candidates: [String]
    if before.isEmpty || before == ["help"] {
      candidates = names(isHelp: !before.isEmpty)
    } else if before.last == "--keyspace" || before.last == "--into" || before == ["drop"] {
      candidates = (try? store.keyspaceNames.sorted()) ?? []
    } else if typed.hasPrefix("-") {
      candidates = options(of: before[0])
    } else if Self.keyCommands.contains(before[0]), before[0] != "put" && before[0] != "set" || before.count == 1 {
      (candidates, isPartial) = keys(beginningWith: typed, after: before)
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
    CommandNames(commands).names.sorted() + (isHelp ? [] : ["help", "quit"])
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

  private func keys(beginningWith typed: String, after words: ArraySlice<String>) -> (keys: [String], isPartial: Bool) {
    let name = words.last { $0.hasPrefix("--keyspace=") }.map { String($0.dropFirst("--keyspace=".count)) }
    let place = words.lastIndex(of: "--keyspace").map { words.index(after: $0) }
    let keyspace = place.flatMap { $0 < words.endIndex ? words[$0] : nil } ?? name ?? ""
    var forms = EntryForms(of: store, .auto)
    let form = forms[keyspace].keys
    let end = ContinuousClock.now + Self.patience
    var found: [String] = []
    var isPartial = false
    guard let snapshot = try? store.snapshot() else { return ([], false) }
    for (number, entry) in snapshot.enumerated() {
      if number & 255 == 0, ContinuousClock.now >= end || Interruption.isRequested {
        isPartial = true
        break
      }
      guard entry.keyspace == keyspace, let key = try? entry.key() else { continue }
      guard let text = form.text(of: key) ?? String(validating: key, as: UTF8.self), text.hasPrefix(typed) else {
        continue
      }
      // What cannot be typed is not offered.
      guard !text.isEmpty, !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
        continue
      }
      found.append(text)
      guard found.count < Self.mostCandidates else {
        isPartial = true
        break
      }
    }
    return (found.sorted(), isPartial)
  }
}

extension String {
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
