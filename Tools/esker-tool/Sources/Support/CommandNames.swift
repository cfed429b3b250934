import ArgumentParser

/// The names of the tool's commands, and what is meant by others.
struct CommandNames {
  /// With the words that other tools have for the same.
  private static let synonyms = [
    "add": "put", "check": "verify", "cat": "get", "compact": "merge", "cp": "copy", "decr": "increment",
    "expire": "touch",
    "filter": "list --where", "find": "list --where", "flush": "clear", "fsck": "verify",
    "grep": "list --where", "incr": "increment", "info": "stats",
    "changes": "follow", "keys": "list", "monitor": "follow", "remove": "delete", "salvage": "repair", "scan": "list",
    "search": "list --where",
    "size": "count", "tail": "follow",
    "top": "watch", "unlink": "delete", "vacuum": "merge",
  ]

  /// Of the commands whose arguments are keys.
  static let ofKeys = CommandNames([
    Put.self, Get.self, Edit.self, Delete.self, Exists.self, TTL.self, Touch.self, Persist.self, Increment.self,
  ]).names

  let names: [String]

  init(_ commands: [any ParsableCommand.Type]) {
    names = commands.flatMap { command in
      let configuration = command.configuration
      return [configuration.commandName ?? "\(command)".lowercased()] + configuration.aliases
    }
  }

  /// Throws if the first argument, or the one after "help", is meant to be a command and is none.
  func check(_ arguments: [String]) throws(ToolError) {
    let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
    guard let word = words.first, !word.hasPrefix("-"), word != "help", !names.contains(word) else { return }
    throw .noCommand(word, meant: suggestion(for: word))
  }

  /// The command that was most likely meant; nil if none is like it.
  func suggestion(for word: String) -> String? {
    let word = word.lowercased()
    if names.contains(word) { return word }
    if let synonym = Self.synonyms[word] { return synonym }
    if word.count > 2, let longer = names.first(where: { $0.hasPrefix(word) }) { return longer }
    return nearest(to: word, among: names)
  }
}

/// The name that is most like a word; nil if none is. Two mistakes are believed of a word whose first letter is right.
func nearest(to word: String, among names: [String]) -> String? {
  let near = names.map { ($0, editDistance(word, $0)) }.min { $0.1 < $1.1 }
  return near.flatMap { $0.1 <= (word.count < 4 || word.first != $0.0.first ? 1 : 2) ? $0.0 : nil }
}

/// How many letters have to be put in, left out, changed, or swapped with the next, to make one word of another.
func editDistance(_ left: String, _ right: String) -> Int {
  let (left, right) = (Array(left), Array(right))
  var rows = [Array(0...right.count)]
  for (i, letter) in left.enumerated() {
    var row = [i + 1]
    for (j, other) in right.enumerated() {
      var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == other ? 0 : 1))
      if i > 0, j > 0, letter == right[j - 1], left[i - 1] == other { least = min(least, rows[i - 1][j - 1] + 1) }
      row.append(least)
    }
    rows.append(row)
  }
  return rows[left.count][right.count]
}
