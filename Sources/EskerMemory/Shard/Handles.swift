import Synchronization

// Access to a shard's memory by slot number, read from a chain or a queue.

/// A node in place; see ``Shard/node(_:)``.
///
/// Safety: slots live as long as their shard. A node stays in its slot from ``Shard/place(_:cost:version:_:)`` until
/// ``Shard/reclaim(into:_:)``, which waits for every pin that was there when the node was retired. So a thread may use it if
/// it holds the lock, or has been pinned since before it read the slot's number. Everything is constant but the access state,
/// which is atomic.
@frozen
@usableFromInline
@safe
struct NodeHandle<Key: Hashable & Sendable, Value: Sendable> {
  @usableFromInline let pointer: UnsafeMutablePointer<Node<Key, Value>>

  @inlinable
  @inline(__always)
  init(_ pointer: UnsafeMutablePointer<Node<Key, Value>>) {
    unsafe self.pointer = pointer
  }

  @inlinable var hash: UInt32 { @inline(__always) get { unsafe pointer.pointee.hash } }
  @inlinable var expiry: Int64 { @inline(__always) get { unsafe pointer.pointee.expiry } }
  @inlinable var key: Key { @inline(__always) _read { yield unsafe pointer.pointee.key } }
  @inlinable var value: Value { @inline(__always) _read { yield unsafe pointer.pointee.value } }

  /// Relaxed: it decides which entries stay, and nothing is read through it.
  ///
  /// Setting it overwrites what a reader may just have noted; one lost use does not matter.
  @inlinable
  var accessState: AccessState {
    @inline(__always) get { unsafe AccessState(bits: pointer.pointee.accessState.load(ordering: .relaxed)) }
    nonmutating set { unsafe pointer.pointee.accessState.store(newValue.bits, ordering: .relaxed) }
  }

  /// Sets the access state unless it has changed from `before`.
  @inlinable
  @inline(__always)
  func change(_ before: AccessState, to after: AccessState) {
    _ = unsafe pointer.pointee.accessState.compareExchange(
      expected: before.bits,
      desired: after.bits,
      ordering: .relaxed
    )
  }
}

/// The data of a slot's node that only writers use; see ``Shard/upkeep(_:)``.
///
/// Safety: as for a node, but only a holder of the lock may use it. Nobody else touches this memory, and an access of one
/// field runs no other code.
@frozen
@usableFromInline
@safe
struct NodeUpkeepHandle {
  @usableFromInline let pointer: UnsafeMutablePointer<NodeUpkeep>

  @inlinable
  @inline(__always)
  init(_ pointer: UnsafeMutablePointer<NodeUpkeep>) {
    unsafe self.pointer = pointer
  }

  @inlinable
  var newer: UInt32 {
    get { unsafe pointer.pointee.newer }
    nonmutating set { unsafe pointer.pointee.newer = newValue }
  }

  @inlinable
  var older: UInt32 {
    get { unsafe pointer.pointee.older }
    nonmutating set { unsafe pointer.pointee.older = newValue }
  }

  @inlinable
  var cost: Int {
    get { unsafe pointer.pointee.cost }
    nonmutating set { unsafe pointer.pointee.cost = newValue }
  }
}

/// The location of a link: a head of a table, or a node's link to the next in its chain.
///
/// Safety: the word is in a table or a chunk. Chunks live as long as the shard, and a table that was replaced is freed once
/// the pins are gone that were there at that time. The word is only accessed as an atomic: `Atomic<UInt32>` has the layout
/// of `UInt32`.
@frozen
@usableFromInline
@safe
struct NodeLinkHandle {
  @usableFromInline let pointer: UnsafeMutablePointer<Atomic<UInt32>>

  @inlinable
  @inline(__always)
  init(_ pointer: UnsafeMutablePointer<Atomic<UInt32>>) {
    unsafe self.pointer = pointer
  }

  /// The link for a reader without the lock. Acquires the node, which was written before the link was published.
  @inlinable
  @inline(__always)
  var followed: NodeLink { unsafe NodeLink(bits: pointer.pointee.load(ordering: .acquiring)) }

  /// The link for a holder of the lock, as the previous holder left it.
  @inlinable
  @inline(__always)
  var current: NodeLink { unsafe NodeLink(bits: pointer.pointee.load(ordering: .relaxed)) }

  /// Makes readers find a node from now on. Releases everything written before.
  @inlinable
  func publish(_ link: NodeLink) { unsafe pointer.pointee.store(link.bits, ordering: .releasing) }

  /// Sets a link that no reader can reach until something else is published.
  @inlinable
  func prepare(_ link: NodeLink) { unsafe pointer.pointee.store(link.bits, ordering: .relaxed) }
}

/// The heads of the chains; their number is a power of two.
///
///     word 0     word 1 ...
///     +----------+---------+-----+
///     | count-1  | head    | ... |
///     +----------+---------+-----+
///
/// Safety: `make` sets all words before anybody knows the table. The first never changes again, and masking a hash with it
/// keeps the number of a head within the table. The others are links.
@frozen
@usableFromInline
@safe
struct HeadTable {
  @usableFromInline let memory: UnsafeMutableRawPointer

  @inlinable
  @inline(__always)
  init(_ memory: UnsafeMutableRawPointer) {
    unsafe self.memory = memory
  }

  /// A table of `headCount` empty heads.
  static func make(headCount: Int) -> HeadTable {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 4 * (1 + headCount), alignment: 8)
    let words = unsafe memory.bindMemory(to: UInt32.self, capacity: 1 + headCount)
    unsafe words.initialize(repeating: 0, count: 1 + headCount)
    unsafe words[0] = UInt32(headCount - 1)
    return unsafe HeadTable(memory)
  }

  @inlinable
  @inline(__always)
  var mask: UInt32 { unsafe memory.load(as: UInt32.self) }

  @inlinable var headCount: Int { Int(mask) + 1 }

  /// The head of the chain for `hash`.
  @inlinable
  @inline(__always)
  func head(of hash: UInt32) -> NodeLinkHandle {
    unsafe NodeLinkHandle(memory.assumingMemoryBound(to: Atomic<UInt32>.self) + (1 + Int(hash & mask)))
  }
}
