package import EskerFormat

/// Records that are missing, or cannot be read: which numbers they have, and how many they are.
package struct LostRecords: Sendable, Hashable {
  /// From the lowest number that one of them can have to the highest.
  package var numbers: ClosedRange<UInt64>
  /// How many they are, or at most are.
  package var count: Int
  /// Whether they are so many for certain.
  package var isExact = true

  /// The record of that number.
  package init(_ number: UInt64) { self.init(number...number) }

  /// All records of those numbers.
  package init(_ numbers: ClosedRange<UInt64>) {
    self.numbers = numbers
    count = Int(clamping: numbers.upperBound - numbers.lowerBound) &+ 1
  }

  init(_ numbers: ClosedRange<UInt64>, count: Int, isExact: Bool) {
    self.numbers = numbers
    self.count = count
    self.isExact = isExact
  }

  /// Those in a range of a segment that has its records in no order of numbers and no readable footer: as many as fit there.
  ///
  /// - Parameter numbers: The lowest and the highest number in the segment; the result is nil if they are not known.
  package init?(in range: Range<Int>, _ layout: SegmentLayout, of numbers: ClosedRange<UInt64>?) {
    guard let numbers else { return nil }
    let most = min(layout.mostRecords(in: range), LostRecords(numbers).count)
    self.init(numbers, count: most, isExact: false)
  }

  /// As in `records #3 to #7`, or `up to 4 records from #3 to #9`.
  package var text: String {
    let (first, last) = (numbers.lowerBound, numbers.upperBound)
    if first == last { return "record #\(first)" }
    let range = "#\(first) to #\(last)"
    if isExact { return last - first == count - 1 ? "records \(range)" : "\(count) records from \(range)" }
    return count == 1 ? "a record from \(range)" : "up to \(count) records from \(range)"
  }

  /// The same as a sentence.
  package var sentence: String { "\(text) \(numbers.count == 1 || count == 1 ? "is" : "are") damaged" }
}

/// Tells which records of a log segment are missing, by the numbers of those that are there, in the order of their places.
///
/// Numbers ascend by one, unless records have replaced others. One that has replaced another has a higher number than some that stand
/// behind it, and the number of the record that it has replaced is nowhere. So it is only known at a mark, which has the highest number in
/// front of it, or at the end, which of the numbers are missing. At least as many were given out in front of a gap as there are records:
/// that gives the lowest number that can be missing there.
package struct RecordNumbers {
  /// A place where records are missing, or cannot be read.
  private struct Hole {
    /// How many records have been passed since the last mark.
    var position: Int
    /// How many records there can have been.
    var most: Int
  }

  /// The lowest number that a record can have that was appended behind the last mark, or behind those that ascended by one.
  private var base: UInt64?
  /// The numbers of those from there on.
  private var passed: [UInt64] = []
  private var highest: UInt64 = 0
  /// The highest number of a record that has replaced another.
  private var lastReuse: UInt64
  private var open: [Hole] = []
  /// What is missing at each hole, as far as it is known.
  private(set) package var losses: [LostRecords?] = []

  /// - Parameters:
  ///   - first: The number of the first record; nil if it is not known.
  ///   - lastReuse: The highest number of a record that has replaced another; 0 if there is none.
  package init(from first: UInt64?, lastReuse: UInt64) {
    base = first
    self.lastReuse = lastReuse
    highest = first.map { $0 &- 1 } ?? 0
  }

  /// Passes a record.
  @inline(__always)
  package mutating func pass(_ sequence: UInt64) {
    if sequence == base, passed.isEmpty, open.isEmpty {
      base = sequence &+ 1
      highest = sequence
    } else {
      passOther(sequence)
    }
  }

  private mutating func passOther(_ sequence: UInt64) {
    let next = base ?? sequence
    // Nothing has replaced anything here: all between the two numbers is missing, if anything is.
    if sequence >= next, lastReuse < next, passed.isEmpty {
      if base != nil { close(through: sequence &- 1) } else { open = [] }
      base = sequence &+ 1
    } else {
      base = next
      passed.append(sequence)
    }
    highest = max(highest, sequence)
  }

  /// Passes a mark, or a seal, in front of which there are only numbers up to its own, and behind it only higher ones.
  package mutating func passMark(_ sequence: UInt64) {
    close(through: sequence)
    base = max(base ?? 0, sequence &+ 1)
    highest = max(highest, sequence)
    passed.removeAll(keepingCapacity: true)
  }

  /// Passes a place where records are missing that took so many bytes; returns the position of what is missing there in ``losses``.
  @discardableResult
  package mutating func passHole(bytes: Int) -> Int {
    open.append(Hole(position: passed.count, most: max(1, bytes / RecordLayout.headerLength)))
    losses.append(nil)
    return losses.count - 1
  }

  /// Ends: there was no number above this one.
  package mutating func end(through last: UInt64) { close(through: max(last, highest)) }

  /// What is missing behind all that was passed, where nothing is known of its bytes.
  package func missing(through last: UInt64) -> LostRecords? {
    var copy = self
    copy.open = []
    let place = copy.passHole(bytes: .max)
    copy.end(through: last)
    return copy.losses[place]
  }

  /// - Complexity: O(n log n) in the records passed since the last mark and the holes among them, however many these are.
  private mutating func close(through last: UInt64) {
    defer { open.removeAll(keepingCapacity: true) }
    guard let base, !open.isEmpty else { return }
    let isOrdered = lastReuse < base && passed.isEmpty
    let replaced = replacements()
    let sorted = passed.sorted()
    let seen = Set(passed)
    var end = last
    while end >= base, seen.contains(end) { end -= 1 }
    var (first, position, least) = (base, 0, base)
    for (number, hole) in open.enumerated() {
      // As if the records in front of it had the lowest numbers that they can have.
      while position < hole.position {
        while replaced.contains(first) { first += 1 }
        first += 1
        position += 1
      }
      least = max(least, first)
      while seen.contains(least) { least += 1 }
      guard least <= end else { continue }
      let others = Self.count(of: sorted, through: end) - Self.count(of: sorted, through: least)
      let count = Int(clamping: end - least) &+ 1 - others
      losses[losses.count - open.count + number] = LostRecords(
        least...end,
        count: min(count, hole.most),
        isExact: isOrdered && open.count == 1 && count <= hole.most
      )
    }
  }

  /// How many of some numbers in order are not above another.
  private static func count(of sorted: [UInt64], through last: UInt64) -> Int {
    var range = 0..<sorted.count
    while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
      range = sorted[middle] <= last ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// The numbers passed of records that have replaced others: lower ones stand behind them.
  private func replacements() -> Set<UInt64> {
    var replaced: Set<UInt64> = []
    var lowest = UInt64.max
    for sequence in passed.reversed() {
      if sequence > lowest { replaced.insert(sequence) } else { lowest = sequence }
    }
    return replaced
  }
}
