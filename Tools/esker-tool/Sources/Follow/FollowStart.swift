import ArgumentParser
import Esker
import Foundation

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

  /// The last write not to show; nil to show those from now on.
  var since: SequenceNumber? {
    switch self {
    case .start: SequenceNumber(rawValue: 0)
    case .now: nil
    case .write(let number): SequenceNumber(rawValue: number - 1)
    }
  }
}

extension FollowStart {
  /// How much earlier than its last record a file's time may be: what a program stores in a mapped file changes that a little later.
  private static let slack = 60.0

  /// The last write not to show, so that all since some time ago are shown that the log still has; some older ones come first.
  ///
  /// Writes have no time, and a part of the log is made ahead of its first one. But its file does not change any more once it is full:
  /// it begins with the first one that has changed since.
  static func lastWrite(before age: Duration, in store: LogStore, isQuiet: Bool) throws -> SequenceNumber {
    let instant = Date(timeIntervalSinceNow: -age.seconds - slack)
    let figures = store.statistics
    let parts = figures.segments.compactMap { part in
      part.isMerged ? nil : part.sequences.map { ($0.lowerBound, part.path) }
    }
    .sorted { $0.0 < $1.0 }
    let isOpen = LogStore.writer(at: store.path) != nil
    let found = parts.indices.first { index in
      if isOpen, index == parts.count - 1 { return true }
      return modified(parts[index].1).map { $0 >= instant } ?? false
    }
    guard let found else { return figures.lastSequence }
    let since = SequenceNumber(rawValue: found == 0 ? 0 : parts[found].0 - 1)
    do throws(StoreError) {
      _ = try store.changes(since: since, includingUnsynced: true).poll()
    } catch .historyGone(_, let oldest) {
      if !isQuiet {
        StandardError.report(
          "note: merges have reclaimed some writes up to \(oldest): this begins behind it, and may lack some of that time"
        )
      }
      return oldest
    } catch {
      // What is damaged is reported by who shows it.
    }
    return since
  }

  /// When a file was last changed.
  private static func modified(_ path: String) -> Date? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
  }
}
