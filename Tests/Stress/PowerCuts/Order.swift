/// What the host has the virtual machine do. A line on the mailbox.
struct Order {
  enum Task: Equatable {
    /// A new round: nothing was written yet.
    case begin
    /// As `begin`, but what was written is known; it has so many bytes.
    case restore(size: Int)
    /// Check what is there, if something must be, then write for about so long, several times.
    case write(milliseconds: Int)
    case check
    /// Give what was written to the host.
    case keep
    /// End.
    case end
  }

  var task: Task
  var fileSystem = ""
  /// What the writes of the round follow from.
  var seed: UInt64 = 0
  /// What the rest of this order is drawn from.
  var draw: UInt64 = 0
  /// For each thread, the last write that is durable; nil if nothing need be there.
  var floor: [UInt64]?
  var configuration = Configuration()

  init(_ task: Task) { self.task = task }

  var floorText: String { floor.map { $0.map { "\($0)" }.joined(separator: ",") } ?? "-" }

  /// So that much of what is written reaches the disk before it is synced.
  var mountOptions: String {
    switch fileSystem {
    case "ext4", "btrfs": "commit=1"
    case "f2fs": "checkpoint_merge"
    default: ""
    }
  }

  var line: String {
    let (name, number) =
      switch task {
      case .begin: ("begin", 0)
      case .restore(let size): ("restore", size)
      case .write(let milliseconds): ("write", milliseconds)
      case .check: ("check", 0)
      case .keep: ("keep", 0)
      case .end: ("end", 0)
      }
    return [name, "\(number)", fileSystem, "\(seed)", "\(draw)", floorText, configuration.text].joined(separator: "\t")
  }

  init?(_ line: String) {
    let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard words.count == 7, let number = Int(words[1]), let seed = UInt64(words[3]), let draw = UInt64(words[4])
    else { return nil }
    switch words[0] {
    case "begin": task = .begin
    case "restore": task = .restore(size: number)
    case "write": task = .write(milliseconds: number)
    case "check": task = .check
    case "keep": task = .keep
    case "end": task = .end
    default: return nil
    }
    fileSystem = words[2]
    self.seed = seed
    self.draw = draw
    floor = words[5] == "-" ? nil : words[5].split(separator: ",").compactMap { UInt64($0) }
    do throws(UsageError) { try configuration.apply(words[6]) } catch { return nil }
  }
}
