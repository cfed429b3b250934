import ArgumentParser
import Esker

/// Where `follow` begins.
enum FollowStart: ExpressibleByArgument, Equatable {
  /// With the first write of the store.
  case start
  /// With the next write.
  case now
  /// With the write of this number.
  case write(UInt64)

  init?(argument: String) {
    switch argument {
    case "start": self = .start
    case "now": self = .now
    default:
      guard let number = UInt64(argument), number > 0 else { return nil }
      self = .write(number)
    }
  }

  var defaultValueDescription: String {
    switch self {
    case .start: "start"
    case .now: "now"
    case .write(let number): "\(number)"
    }
  }

  /// The last write not to show; nil to show those from now on.
  var since: SequenceNumber? {
    switch self {
    case .start: SequenceNumber(rawValue: 0)
    case .now: nil
    case .write(let number): SequenceNumber(rawValue: number - 1)
    }
  }
}
