/// What processes do that write to one store in turn, and tell of it in a file that all have mapped.
public enum TurnScript {
  /// How many words of the file a process has: the number of its last write, how many of them waited, the longest wait in nanoseconds, and
  /// how many waits there were of so many bits.
  public static let words = 128

  /// The key that all processes count up.
  public static let counter = "counter"

  /// The key with a process's last number.
  public static func key(_ process: Int) -> String { "process \(process)" }

  /// A key that a process overwrites after some other writes.
  public static func slot(_ number: UInt64, of process: Int) -> String { "process \(process), slot \(number % slots)" }

  /// What a write puts there.
  public static func value(_ number: UInt64) -> [UInt8] {
    Array("\(number) ".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Int(number * 37 % 300))
  }

  /// How many slots a process has.
  public static let slots: UInt64 = 50

  /// Notes that a write has waited.
  public static func note(_ nanoseconds: UInt64, _ words: UnsafeMutablePointer<UInt64>) {
    words[1] += 1
    words[2] = max(words[2], nanoseconds)
    words[3 + (64 - nanoseconds.leadingZeroBitCount)] += 1
  }

  /// The waits of which a share of all is shorter, in nanoseconds: at most twice that.
  public static func wait(_ share: Double, _ words: [UInt64]) -> UInt64 {
    let counts = words[3..<68]
    var rest = Double(counts.reduce(0, +)) * share
    for (bits, count) in counts.enumerated() {
      rest -= Double(count)
      if rest <= 0 { return 1 << UInt64(bits) }
    }
    return .max
  }
}
