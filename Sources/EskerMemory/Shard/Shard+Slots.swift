import EskerPlatform
import Synchronization

// The slots: chunks that never move, so that a number is enough to find a node.
extension Shard {
  @inlinable static var nodesPerChunk: Int { 64 }

  /// A chunk begins with its nodes' links to the next of their chains: close together, so that a search passes most nodes by
  /// without touching their cache lines.
  @inlinable static var linkBytes: Int { 4 * nodesPerChunk }

  /// Then comes what only writers need, and then the nodes, on a cache line's border.
  @inlinable static var headerBytes: Int { linkBytes + 16 * nodesPerChunk }

  /// The node in a slot; the caller is pinned or holds the lock.
  @inlinable
  @inline(__always)
  func node(_ slot: UInt32) -> UnsafeMutablePointer<Node<Key, Value>> {
    let nodes = unsafe (chunk(of: slot) + Self.headerBytes).assumingMemoryBound(
      to: Node<Key, Value>.self
    )
    return unsafe nodes + Int(slot) % Self.nodesPerChunk
  }

  /// What writers keep of a slot's node; under the lock.
  @inlinable
  @inline(__always)
  func upkeep(_ slot: UInt32) -> UnsafeMutablePointer<Upkeep> {
    let upkeeps = unsafe (chunk(of: slot) + Self.linkBytes).assumingMemoryBound(to: Upkeep.self)
    return unsafe upkeeps + Int(slot) % Self.nodesPerChunk
  }

  /// Where the link to the next node of the chain is.
  @inlinable
  @inline(__always)
  func nextLink(of slot: UInt32) -> UnsafeMutablePointer<Atomic<UInt32>> {
    unsafe chunk(of: slot).assumingMemoryBound(to: Atomic<UInt32>.self) + Int(slot)
      % Self.nodesPerChunk
  }

  @inlinable
  @inline(__always)
  func chunk(of slot: UInt32) -> UnsafeMutableRawPointer {
    // Relaxed: whoever knows the number read it after the chunk was entered.
    let directory = unsafe chunks.load(ordering: .relaxed).assumingMemoryBound(
      to: UnsafeMutableRawPointer.self
    )
    return unsafe directory[Int(slot) / Self.nodesPerChunk]
  }

  /// Whether no slot can be had before one has been freed.
  @inlinable var isFull: Bool {
    unsafe state.pointee.freeSlot == 0 && state.pointee.slotCount == Link.slotLimit
  }

  /// Puts a node into a free slot, and into no chain or queue.
  @inlinable
  func place(_ node: consuming Node<Key, Value>, cost: Int, _ commons: borrowing Commons) -> UInt32 {
    let slot: UInt32
    if unsafe state.pointee.freeSlot != 0 {
      slot = unsafe state.pointee.freeSlot
      unsafe state.pointee.freeSlot = UnsafeRawPointer(self.node(slot)).load(as: UInt32.self)
    } else {
      slot = unsafe state.pointee.slotCount
      unsafe state.pointee.slotCount += 1
      if unsafe Int(slot) / Self.nodesPerChunk == state.pointee.chunkCount { addChunk(commons) }
    }
    unsafe self.node(slot).initialize(to: node)
    unsafe upkeep(slot).initialize(to: Upkeep(cost: cost))
    return slot
  }

  @usableFromInline
  func addChunk(_ commons: borrowing Commons) {
    let stride = MemoryLayout<UInt>.stride
    var directory = unsafe chunks.load(ordering: .relaxed)
    let count = unsafe state.pointee.chunkCount
    if unsafe count == state.pointee.chunkRoom {
      let old = unsafe directory
      unsafe state.pointee.chunkRoom *= 2
      unsafe directory = .allocate(byteCount: stride * state.pointee.chunkRoom, alignment: 8)
      unsafe directory.copyMemory(from: old, byteCount: stride * count)
      unsafe chunks.store(directory, ordering: .releasing)
      unsafe commons.free(old)
    }
    let chunk = UnsafeMutableRawPointer.allocate(
      byteCount: Self.headerBytes + Self.nodesPerChunk * MemoryLayout<Node<Key, Value>>.stride,
      alignment: max(64, MemoryLayout<Node<Key, Value>>.alignment)
    )
    unsafe chunk.initializeMemory(as: UInt32.self, repeating: 0, count: Self.nodesPerChunk)
    unsafe directory.storeBytes(
      of: chunk,
      toByteOffset: stride * count,
      as: UnsafeMutableRawPointer.self
    )
    unsafe state.pointee.chunkCount += 1
  }

  /// Gives an unlinked node up, to be freed once no reader can stand in it.
  @inlinable
  func retire(_ slot: UInt32, _ epochs: EpochDomain) {
    unsafe upkeep(slot).pointee.newer = 0
    unsafe upkeep(slot).pointee.cost = Int(truncatingIfNeeded: epochs.mark())
    let last = unsafe state.pointee.retired.oldest == 0 ? 0 : state.pointee.retired.newest
    if last == 0 {
      unsafe state.pointee.retired.oldest = slot
    } else {
      unsafe self.upkeep(last).pointee.newer = slot
    }
    unsafe state.pointee.retired.newest = slot
  }

  /// Moves what no reader can hold any more out of its slots.
  @inlinable
  func reclaim(into garbage: inout Garbage<Key, Value>, _ epochs: EpochDomain) {
    if unsafe state.pointee.retired.oldest == 0 { return }
    // Most often nobody reads: then one look at the newest is enough for all.
    let newest = unsafe UInt64(
      truncatingIfNeeded: upkeep(state.pointee.retired.newest).pointee.cost
    )
    var passed = epochs.hasPassed(newest) ? newest : 0
    while unsafe state.pointee.retired.oldest != 0 {
      let slot = unsafe state.pointee.retired.oldest
      let node = unsafe node(slot)
      let mark = unsafe UInt64(truncatingIfNeeded: upkeep(slot).pointee.cost)
      if mark > passed {
        if !epochs.hasPassed(mark) { return }
        passed = mark
      }
      unsafe state.pointee.retired.oldest = upkeep(slot).pointee.newer
      unsafe garbage.add(node.pointee.key, node.pointee.value)
      unsafe node.deinitialize(count: 1)
      unsafe UnsafeMutableRawPointer(node).storeBytes(of: state.pointee.freeSlot, as: UInt32.self)
      unsafe state.pointee.freeSlot = slot
    }
  }
}
