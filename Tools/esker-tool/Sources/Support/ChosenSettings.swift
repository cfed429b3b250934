import ArgumentParser
import Esker

/// `off`, `lz4`, or `lz4:9` for a level.
extension Options.Compression: ExpressibleByArgument {
  /// Nil for anything else.
  public init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    switch (parts.first, parts.count) {
    case ("off", 1): self = .off
    case ("lz4", 1): self = .lz4
    case ("lz4", 2):
      guard let level = Int(parts[1]), (0...12).contains(level) else { return nil }
      self = .lz4(level: level)
    default: return nil
    }
  }
}

/// The most bytes that a store may take: a size, or `none`.
struct CapacityArgument: ExpressibleByArgument, Equatable {
  let bytes: Int

  init?(argument: String) {
    guard argument != "none" else {
      bytes = .max
      return
    }
    guard let size = ByteSize(argument: argument) else { return nil }
    bytes = size.bytes
  }
}

/// How the store packs values, which it remembers.
struct CompressionOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Let merges compress values, from now on: off, lz4, or lz4:9 for a level from 0 to 12. The store remembers it.",
      valueName: "method"
    )
  )
  var compression: Options.Compression?
}
