import EskerPlatform
import Synchronization

// The slots: chunks that never move, so that a number is enough to find a node.
//
// Safety: the number of a slot comes from `place`, which has entered the slot's chunk. A chunk is laid out for its nodes and
// stays until the shard goes. When a longer directory of chunks replaces a shorter one, the shorter one stays for readers,
// as `ShardContext.free` explains. A slot either holds a node, which is initialized, or is free, and then has the number of the
// next free slot in the node's place. Only a holder of the lock changes which.
extension Shard {
  @inlinable static var nodesPerChunk: Int { 64 }

  /// A chunk begins with its nodes' links to the next in their chains: close together, so that a search skips most nodes
  /// without touching their cache lines.
  @inlinable static var linkBytes: Int { 4 * nodesPerChunk }

  /// The versions follow, apart from the nodes since most reads do not ask for them, and the upkeep.
  @inlinable static var upkeepOffset: Int { linkBytes + 8 * nodesPerChunk }

  /// Then the nodes, aligned to a cache line.
  @inlinable static var headerBytes: Int { upkeepOffset + 16 * nodesPerChunk }

  /// The node in a slot; the caller must be pinned or hold the lock.
  @inlinable
  @inline(__always)
  func node(_ slot: UInt32) -> NodeHandle<Key, Value> {
    let nodes = unsafe (chunk(of: slot) + Self.headerBytes).assumingMemoryBound(to: Node<Key, Value>.self)
    return unsafe NodeHandle(nodes + Int(slot) % Self.nodesPerChunk)
  }

  /// The upkeep of a slot's node; under the lock.
  @inlinable
  @inline(__always)
  func upkeep(_ slot: UInt32) -> NodeUpkeepHandle {
    let upkeeps = unsafe (chunk(of: slot) + Self.upkeepOffset).assumingMemoryBound(to: NodeUpkeep.self)
    return unsafe NodeUpkeepHandle(upkeeps + Int(slot) % Self.nodesPerChunk)
  }

  /// The version of a slot's node: as constant as the node.
  @inlinable
  @inline(__always)
  func version(_ slot: UInt32) -> UInt64 {
    let versions = unsafe (chunk(of: slot) + Self.linkBytes).assumingMemoryBound(to: UInt64.self)
    return unsafe versions[Int(slot) % Self.nodesPerChunk]
  }

  /// The location of the link to the next node in the chain.
  @inlinable
  @inline(__always)
  func nextLink(of slot: UInt32) -> NodeLinkHandle {
    let links = unsafe chunk(of: slot).assumingMemoryBound(to: Atomic<UInt32>.self)
    return unsafe NodeLinkHandle(links + Int(slot) % Self.nodesPerChunk)
  }

  @inlinable
  @inline(__always)
  func chunk(of slot: UInt32) -> UnsafeMutableRawPointer {
    // Relaxed: the reader acquired the slot's number after its chunk had been entered. A directory that has grown since
    // begins like the previous one, and is read through the address just loaded, which keeps the order on every processor
    // that Swift supports.
    let directory = unsafe chunks.load(ordering: .relaxed).assumingMemoryBound(to: UnsafeMutableRawPointer.self)
    return unsafe directory[Int(slot) / Self.nodesPerChunk]
  }

  /// Whether no slot is available until one is freed.
  @inlinable var isFull: Bool {
    state.freeSlot == 0 && state.slotCount == NodeLink.slotLimit
  }

  /// Puts a node into a free slot, without linking it into a chain or queue.
  @inlinable
  func place(
    _ node: consuming Node<Key, Value>,
    cost: Int,
    version: UInt64,
    _ context: borrowing ShardContext
  ) -> UInt32 {
    let slot: UInt32
    if state.freeSlot != 0 {
      slot = state.freeSlot
      state.freeSlot = unsafe UnsafeRawPointer(self.node(slot).pointer).load(as: UInt32.self)
    } else {
      slot = state.slotCount
      state.slotCount += 1
      if Int(slot) / Self.nodesPerChunk == state.chunkCount { addChunk(context) }
    }
    unsafe self.node(slot).pointer.initialize(to: node)
    unsafe upkeep(slot).pointer.initialize(to: NodeUpkeep(cost: cost))
    let versions = unsafe (chunk(of: slot) + Self.linkBytes).assumingMemoryBound(to: UInt64.self)
    unsafe versions[Int(slot) % Self.nodesPerChunk] = version
    return slot
  }

  @usableFromInline
  func addChunk(_ context: borrowing ShardContext) {
    let stride = MemoryLayout<UInt>.stride
    var directory = unsafe chunks.load(ordering: .relaxed)
    let count = state.chunkCount
    if count == state.chunkRoom {
      let old = unsafe directory
      state.chunkRoom *= 2
      unsafe directory = .allocate(byteCount: stride * state.chunkRoom, alignment: 8)
      unsafe directory.copyMemory(from: old, byteCount: stride * count)
      // Release: comes before the publication of any slot in the new chunk; see `chunk(of:)`.
      unsafe chunks.store(directory, ordering: .releasing)
      unsafe context.free(old)
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
    state.chunkCount += 1
  }

  /// Frees the memory of all slots; none may be used afterwards.
  @usableFromInline
  func freeChunks() {
    let directory = unsafe chunks.load(ordering: .relaxed).assumingMemoryBound(to: UnsafeMutableRawPointer.self)
    for chunk in 0..<state.chunkCount { unsafe directory[chunk].deallocate() }
    unsafe directory.deallocate()
  }

  /// Retires an unlinked node, to be freed once no reader can be using it.
  @inlinable
  func retire(_ slot: UInt32, _ epochs: EpochDomain) {
    upkeep(slot).newer = 0
    upkeep(slot).cost = Int(truncatingIfNeeded: epochs.mark())
    let last = state.retired.oldest == 0 ? 0 : state.retired.newest
    if last == 0 {
      state.retired.oldest = slot
    } else {
      upkeep(last).newer = slot
    }
    state.retired.newest = slot
  }

  /// Moves everything that no reader can hold any more out of its slots.
  @inlinable
  func reclaim(into garbage: inout CacheGarbage<Key, Value>, _ epochs: EpochDomain) {
    if state.retired.oldest == 0 { return }
    // Usually there are no readers: then one check of the newest is enough for all.
    let newest = UInt64(truncatingIfNeeded: upkeep(state.retired.newest).cost)
    var passed = epochs.hasPassed(newest) ? newest : 0
    while state.retired.oldest != 0 {
      let slot = state.retired.oldest
      let node = node(slot)
      let mark = UInt64(truncatingIfNeeded: upkeep(slot).cost)
      if mark > passed {
        if !epochs.hasPassed(mark) { return }
        passed = mark
      }
      state.retired.oldest = upkeep(slot).newer
      garbage.add(node.key, node.value)
      unsafe node.pointer.deinitialize(count: 1)
      unsafe UnsafeMutableRawPointer(node.pointer).storeBytes(of: state.freeSlot, as: UInt32.self)
      state.freeSlot = slot
    }
  }
}
