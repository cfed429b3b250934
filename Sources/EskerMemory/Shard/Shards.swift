/// The shards of a cache.
///
/// Safety: the shards live as long as this value and do not move. Threads may share each of them, and so all. A number is
/// taken modulo their count, a power of two, so there is a shard for every number.
@frozen
@usableFromInline
@safe
struct Shards<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let first: UnsafeMutablePointer<Shard<Key, Value>>
  @usableFromInline let mask: Int

  init(count: Int) {
    precondition(count > 0 && count & (count - 1) == 0, "no power of two")
    mask = count - 1
    unsafe first = .allocate(capacity: count)
    for shard in 0..<count { unsafe (first + shard).initialize(to: Shard()) }
  }

  deinit {
    unsafe first.deinitialize(count: mask + 1)
    unsafe first.deallocate()
  }

  @inlinable
  subscript(number: Int) -> ShardHandle<Key, Value> {
    @inline(__always) get { unsafe ShardHandle(first + (number & mask)) }
  }

  @inlinable
  func number(of shard: ShardHandle<Key, Value>) -> Int { unsafe shard.pointer - first }
}

/// A shard in place.
///
/// Safety: whoever has a handle has the cache, too, which keeps the shard. A shard has only constants and is only borrowed;
/// what changes in it is atomic or behind its lock.
@frozen
@usableFromInline
@safe
struct ShardHandle<Key: Hashable & Sendable, Value: Sendable> {
  @usableFromInline let pointer: UnsafeMutablePointer<Shard<Key, Value>>

  @inlinable
  @inline(__always)
  init(_ pointer: UnsafeMutablePointer<Shard<Key, Value>>) {
    unsafe self.pointer = pointer
  }

  @inlinable
  var pointee: Shard<Key, Value> {
    @inline(__always) _read { yield unsafe pointer.pointee }
  }
}
