import EskerTestSupport

/// What a disk was asked to do since it was in a known state, and what was said to be durable meanwhile.
struct Recording {
  /// The disk before the first request.
  var origin: VirtualDisk.Map
  var log: [VirtualDisk.Entry] = []
  /// For each thread of the writer, the last write that was durable before; nil if nothing was.
  var floor: [UInt64]?
  /// What was said to be durable, and how many requests the disk had answered by then.
  var acknowledgements: [(position: Int, thread: Int, number: UInt64)] = []
  /// Whether blocks of the file system may have been torn by the cut before.
  var isTorn = false

  /// What must be there after a cut behind so many requests; nil if nothing need be.
  func floor(at cut: Int) -> [UInt64]? {
    var floor = floor
    for known in acknowledgements where known.position <= cut {
      var numbers = floor ?? []
      while numbers.count <= known.thread { numbers.append(0) }
      numbers[known.thread] = max(numbers[known.thread], known.number)
      floor = numbers
    }
    return floor
  }

  /// What a cut leaves, as the beginning of what comes after it.
  func base(after cut: Cut) -> Recording {
    Recording(origin: state(after: cut), floor: floor(at: cut.position), isTorn: isTorn || cut.mixture.tearsPages)
  }

  /// What a cut leaves: all that was flushed, and a mixture of the rest.
  func state(after cut: Cut) -> VirtualDisk.Map {
    var map = origin
    var draw = SeededGenerator(seed: cut.seed)
    let pending = cut.firstPending(of: log)
    for (position, entry) in log[..<cut.position].enumerated() where !entry.isFlush {
      let isCertain = position < pending || entry.isDurable && !cut.ignoresFlushes
      for offset in cut.mixture.survivors(of: entry, isLast: position == cut.position - 1, isCertain, &draw) {
        map[entry.first + offset] = UInt32(entry.place + offset)
      }
    }
    return map
  }
}
