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

/// When a write survives a power failure: `buffered`, `synced`, or `periodic:1s`.
struct DurabilityArgument: ExpressibleByArgument {
  let durability: Durability

  init?(argument: String) {
    switch argument {
    case "buffered": durability = .buffered
    case "synced": durability = .synced
    default:
      guard argument.hasPrefix("periodic:"), let period = TimeToLive(argument: String(argument.dropFirst(9))) else {
        return nil
      }
      durability = .periodic(period.duration)
    }
  }
}

/// When values expire that are written without an expiry: after a time, or never.
struct ExpiryArgument: ExpressibleByArgument {
  let expiry: Expiry

  init?(argument: String) {
    if argument == "never" {
      expiry = .never
    } else if let time = TimeToLive(argument: argument) {
      expiry = .after(time.duration)
    } else {
      return nil
    }
  }
}

/// The sizes that a store keeps to, which it remembers.
struct SizeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write segments of this size from now on, from 64KiB to 1GiB, \(ByteSize.help). The store remembers it.",
      valueName: "size"
    )
  )
  var segmentSize: ByteSize?

  @Option(
    help: ArgumentHelp(
      "Let the store take no more than this, and evict what was not read recently: \(ByteSize.help), or none. It remembers it.",
      valueName: "size"
    )
  )
  var capacity: CapacityArgument?

  func validate() throws {
    if let segmentSize, !(64 << 10...1 << 30).contains(segmentSize.bytes) {
      throw ValidationError("--segment-size takes a size from 64KiB to 1GiB.")
    }
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
