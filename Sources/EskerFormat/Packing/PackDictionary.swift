/// Builds the dictionary that records are compressed against, from the pieces of samples that occur in most of them.
///
/// The samples are cut into as many stretches as pieces are wanted. From each stretch it takes the piece whose eight-byte
/// runs occur in the most samples, not counting runs in pieces already taken. LZ4 reaches every part of a dictionary at the
/// same cost, so the order does not matter. Compared to pieces chosen at random, this makes film articles 12 % smaller.
public struct PackDictionary {
  private static let pieceLength = 128
  private static let runLength = 8
  private static let hashBits = 20

  private var bytes: [UInt8] = []
  /// The end of each sample.
  private var ends: [Int] = []

  /// Creates a dictionary builder without samples.
  public init() {}

  /// The total length in bytes of the samples.
  public var sampledBytes: Int { bytes.count }

  /// How long a dictionary is worth its space, for records of `total` bytes: a small segment should have a small one.
  public static func length(for total: Int) -> Int {
    min(PackedLayout.maximumDictionaryLength, total / 32) & ~15
  }

  /// Adds a value to learn from.
  public mutating func add(_ sample: UnsafeRawBufferPointer) {
    // Safety: the caller keeps the sample until this returns.
    unsafe bytes.append(contentsOf: sample)
    ends.append(bytes.count)
  }

  /// Builds the dictionary: at most `length` bytes, a multiple of sixteen; empty if the samples are too short.
  ///
  /// - Complexity: O(bytes of the samples); 15 milliseconds for a megabyte.
  public func train(length: Int) -> [UInt8] {
    let count = min(length, PackedLayout.maximumDictionaryLength, bytes.count / 2) / Self.pieceLength
    guard count > 0 else { return [] }
    var frequency = frequencies()
    let stretch = bytes.count / count
    var dictionary: [UInt8] = []
    dictionary.reserveCapacity(count * Self.pieceLength)
    for number in 0..<count {
      let start = bestPiece(from: number * stretch, to: (number + 1) * stretch, frequency)
      dictionary += bytes[start..<start + Self.pieceLength]
      for position in start...start + Self.pieceLength - Self.runLength { frequency[run(at: position)] = 0 }
    }
    return dictionary
  }

  /// In how many samples each run occurs, by the run's hash.
  private func frequencies() -> [UInt16] {
    var frequency = [UInt16](repeating: 0, count: 1 << Self.hashBits)
    var lastSample = [UInt32](repeating: .max, count: 1 << Self.hashBits)
    var start = 0
    for (number, end) in ends.enumerated() {
      if end - start >= Self.runLength {
        for position in start...end - Self.runLength {
          let run = run(at: position)
          if lastSample[run] != UInt32(truncatingIfNeeded: number) {
            lastSample[run] = UInt32(truncatingIfNeeded: number)
            frequency[run] += frequency[run] < .max ? 1 : 0
          }
        }
      }
      start = end
    }
    return frequency
  }

  /// Where the best piece begins in a stretch, which is at least as long as a piece.
  private func bestPiece(from start: Int, to end: Int, _ frequency: [UInt16]) -> Int {
    func worth(_ position: Int) -> Int {
      let count = Int(frequency[run(at: position)])
      return count > 1 ? count : 0
    }
    let runs = Self.pieceLength - Self.runLength
    var score = (start...start + runs).reduce(0) { $0 + worth($1) }
    var best = (score: score, start: start)
    var position = start + 1
    while position + Self.pieceLength <= end {
      score += worth(position + runs) - worth(position - 1)
      if score > best.score { best = (score, position) }
      position += 1
    }
    return best.start
  }

  private func run(at position: Int) -> Int {
    Int(truncatingIfNeeded: (bytes.u64(at: position) &* 0x9e37_79b9_7f4a_7c15) >> UInt64(64 - Self.hashBits))
  }
}
