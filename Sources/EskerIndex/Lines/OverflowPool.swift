import EskerPlatform

/// Allocates overflow lines and takes them back.
///
/// Readers may still be reading a line that has left its chain. It keeps its contents until the readers pinned at that time
/// are gone, and is reused only then. Used by the writer only.
final class OverflowPool {
  /// The lines that are in no chain.
  private struct Lists {
    /// Removed from their chains since the last mark.
    var leaving: [UInt32] = []
    /// Waiting for readers, oldest first.
    var waiting: [(mark: UInt64, lines: [UInt32])] = []
    var free: [UInt32] = []
  }

  private let state: IndexState
  private let epochs: EpochDomain
  /// In a cell, because stored properties of a class would be checked for exclusive access at each use.
  ///
  /// Safety: only the writer has the pool, and the changes are calls of the standard library's on arrays of numbers, which
  /// run nothing that comes back here.
  private let lists = unsafe HeapCell(Lists())

  private static let batch = 64

  init(state: IndexState, epochs: EpochDomain) {
    self.state = state
    self.epochs = epochs
  }

  /// An empty line for a bucket, not visible to readers yet; nil when out of memory.
  func take(for bucket: UInt64) -> (number: UInt64, line: Line)? {
    if lists.value.free.isEmpty { collect() }
    guard let number = lists.value.free.popLast().map(UInt64.init) ?? fresh(),
      let line = state.overflowLine(number)
    else {
      return nil
    }
    line.clear()
    line.control = bucket
    state[.overflowInUse] += 1
    return (number, line)
  }

  /// Allocates the memory of all lines up to this number, so that ``take(for:)`` cannot fail; false when out of memory.
  func reserve(through line: UInt64) -> Bool {
    while state[.overflowChunks] <= line >> ChunkDirectory.lineBits {
      guard ensureChunk(for: state[.overflowChunks] << ChunkDirectory.lineBits) else { return false }
    }
    return true
  }

  /// Takes back a line that is no longer linked from any chain.
  func retire(_ number: UInt64) {
    let inUse = state[.overflowInUse]
    if inUse > 0 { state[.overflowInUse] = inUse - 1 }
    lists.value.leaving.append(UInt32(truncatingIfNeeded: number))
    if lists.value.leaving.count >= OverflowPool.batch {
      let mark = epochs.mark()
      lists.value.waiting.append((mark, lists.value.leaving))
      lists.value.leaving.removeAll(keepingCapacity: true)
    }
  }

  /// The lines that are currently in no chain.
  var idleLines: [UInt32] {
    lists.value.free + lists.value.leaving + lists.value.waiting.flatMap { $0.lines }
  }

  private func collect() {
    var passed = 0
    while passed < lists.value.waiting.count && epochs.hasPassed(lists.value.waiting[passed].mark) {
      lists.value.free.append(contentsOf: lists.value.waiting[passed].lines)
      passed += 1
    }
    lists.value.waiting.removeFirst(passed)
  }

  private func fresh() -> UInt64? {
    let number = state[.overflowEnd]
    guard number <= UInt64(UInt32.max), ensureChunk(for: number) else { return nil }
    state[.overflowEnd] = number + 1
    state.overflow.populateStep(at: number)
    return number
  }

  private func ensureChunk(for number: UInt64) -> Bool {
    let chunk = number >> ChunkDirectory.lineBits
    if chunk < state[.overflowChunks] { return true }
    let spare = state.exchange(.spareOverflow, 0)
    guard let address = spare != 0 ? spare : ChunkDirectory.allocateChunk() else { return false }
    if spare != 0 { state.overflow.setPaging(chunk, .huge) }
    state.overflow.setEntry(chunk, address)
    state[.overflowChunks] = chunk + 1
    return true
  }
}
