import ArgumentParser
import EskerTools
import Foundation

extension CompletionKind {
  /// The names of the keyspaces of the store that the command line names.
  static let keyspaces = CompletionKind.custom { words, _, _ in KeyspaceCompletion.names(for: words) }
}

/// What a shell offers for the name of a keyspace.
enum KeyspaceCompletion {
  /// - Parameter words: The command line so far, beginning with the program.
  static func names(for words: [String]) -> [String] {
    guard let path = store(namedIn: words), let manifest = try? StoreInspection(at: path).manifest else { return [] }
    return manifest.keyspaces.map(\.name).filter { !$0.isEmpty }.sorted().map { quoted($0) }
  }

  /// The path of the store that a command line names.
  static func store(namedIn words: [String]) -> String? {
    // The store is behind the command's name. Options may stand before it, with values that are no stores.
    for word in words.dropFirst(2) where !word.hasPrefix("-") {
      let path = unquoted(word)
      // Looks only at the files, and takes no lock: a shell asks at each key.
      if (try? StoreInspection(at: path).manifest) != nil { return path }
    }
    return nil
  }

  /// In zsh, a colon begins a description.
  static func quoted(_ name: String) -> String {
    CompletionShell.requesting == .zsh ? name.replacing(":", with: "\\:") : name
  }

  /// A shell may pass a word as it was typed.
  private static func unquoted(_ word: String) -> String {
    var word = word
    if word.hasPrefix("~/") { word = NSHomeDirectory() + word.dropFirst() }
    for quote in ["\"", "'"] where word.count > 1 && word.hasPrefix(quote) && word.hasSuffix(quote) {
      word = String(word.dropFirst().dropLast())
    }
    return word.replacing("\\ ", with: " ")
  }
}
