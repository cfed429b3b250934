import Esker
import Foundation

/// The last change that `follow` has shown, kept in a file, so that the same command goes on there.
///
/// The file is replaced after the lines were written, and at most every tenth of a second: after a kill, some lines come twice, and
/// none is missing.
struct FollowPosition {
  private struct Contents: Codable {
    /// The identity of the store.
    var store: String
    var sequence: UInt64
  }

  private let path: String
  private var contents: Contents
  private var saved: UInt64?
  private var savedAt = ContinuousClock.now - Self.pause

  private static let pause = Duration.milliseconds(100)
  /// Such a file is small.
  private static let limit = 4096

  /// - Throws: ``ToolError/noPosition(path:)``; ``ToolError/otherPosition(path:)``.
  init(at path: String, ofStore store: String) throws {
    self.path = path
    contents = Contents(store: store, sequence: 0)
    guard SystemCalls.status(path) != nil else { return }
    let bytes = try InputFile(path).readAll(limit: Self.limit) ?? []
    guard let found = try? JSONDecoder().decode(Contents.self, from: Data(bytes)) else {
      throw ToolError.noPosition(path: path)
    }
    guard found.store == store else { throw ToolError.otherPosition(path: path) }
    contents = found
    saved = found.sequence
  }

  /// The last change that was shown before; nil if the file is not there yet.
  var sequence: SequenceNumber? { saved.map { SequenceNumber(rawValue: $0) } }

  /// Keeps the position: everything up to this change was written.
  ///
  /// - Parameter isLast: Whether there will be no other call.
  mutating func keep(_ sequence: SequenceNumber, isLast: Bool = false) throws {
    let number = sequence.rawValue
    guard number != saved, isLast || ContinuousClock.now - savedAt >= Self.pause else { return }
    contents.sequence = number
    try replaceFile(at: path, with: Array(JSONEncoder().encode(contents)) + [UInt8(ascii: "\n")])
    saved = number
    savedAt = .now
  }
}
