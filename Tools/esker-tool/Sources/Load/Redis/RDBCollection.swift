import Foundation

/// A list, set, sorted set or hash of Redis as JSON, built of its strings one by one.
///
/// Lists and sets become lists, hashes objects, and sorted sets objects with the scores, the least first. Bytes that are not text are marked,
/// as in a dump; where they are a name, there is no JSON for them.
struct RDBCollection {
  enum Shape: Equatable {
    case list, hash, sortedSet
  }

  private let shape: Shape
  private let limit: Int
  private var writer = JSONWriter()
  /// The name whose value comes next.
  private var name: [UInt8]?
  private var members: [(name: [UInt8], score: Double)] = []
  private var memberBytes = 0
  /// Whether it became longer than the limit. Then it is kept no longer.
  private(set) var isTooLong = false
  /// Whether a name is not text.
  private(set) var hasOtherNames = false
  /// Whether something is there that no server writes.
  private(set) var isDamaged = false

  init(_ shape: Shape, limit: Int) {
    self.shape = shape
    self.limit = limit
    if shape == .list { writer.beginArray() } else { writer.beginObject() }
  }

  /// Adds an element, or the name and then the value of a field, or the member and then the score.
  mutating func add(_ text: [UInt8]) {
    guard shape != .list else { return write(text) }
    guard let name else {
      self.name = text
      if !UTF8Check.isValid(ContiguousArray(text).span) { hasOtherNames = true }
      return
    }
    guard shape == .hash else {
      guard let score = Double(String(decoding: text, as: UTF8.self)) else { return isDamaged = true }
      return add(score: score)
    }
    self.name = nil
    guard !hasOtherNames, !isTooLong else { return }
    writer.name(String(decoding: name, as: UTF8.self))
    write(text)
  }

  /// Adds the score of the member that was added before.
  mutating func add(score: Double) {
    guard let name, !score.isNaN else { return isDamaged = true }
    self.name = nil
    // A member and its score take at least as much in JSON.
    memberBytes += name.count + 5
    guard !hasOtherNames, !isTooLong, memberBytes <= limit else { return leaveOut(memberBytes > limit) }
    members.append((name, score))
  }

  /// Says that an element is longer than the limit.
  mutating func addTooLong() {
    leaveOut(true)
    if shape == .list || name != nil { name = nil } else { name = [] }
  }

  private mutating func leaveOut(_ isLong: Bool) {
    if isLong { isTooLong = true }
    members.removeAll()
    writer.removeAll()
  }

  private mutating func write(_ text: [UInt8]) {
    guard !isTooLong else { return }
    if UTF8Check.isValid(ContiguousArray(text).span) {
      writer.value(utf8: ContiguousArray(text).span)
    } else {
      writer.object { $0.field(CBORText.Mark.bytes.rawValue, Data(text).base64EncodedString()) }
    }
    if writer.bytes.count > limit { leaveOut(true) }
  }

  /// The JSON; nil if what was added last is a name without a value, or there is none for another reason.
  mutating func finish() -> [UInt8]? {
    guard name == nil, !isTooLong, !isDamaged, !hasOtherNames else { return nil }
    members.sort {
      $0.score < $1.score || $0.score == $1.score && $0.name.lexicographicallyPrecedes($1.name)
    }
    for (name, score) in members {
      writer.name(String(decoding: name, as: UTF8.self))
      write(score)
    }
    if shape == .list { writer.endArray() } else { writer.endObject() }
    guard writer.bytes.count <= limit else {
      isTooLong = true
      return nil
    }
    return writer.bytes
  }

  private mutating func write(_ score: Double) {
    guard score.isFinite else {
      return writer.object { $0.field(CBORText.Mark.float.rawValue, "\(score)") }
    }
    // Most scores are whole: without a fraction, as Redis prints them.
    if let whole = Int(exactly: score), whole.magnitude < 1 << 53 { writer.value(whole) } else { writer.value(score) }
  }
}
