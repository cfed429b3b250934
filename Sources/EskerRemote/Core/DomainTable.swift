public import Synchronization

/// What a read must know of a domain to serve a near copy: its generation, and until when changes are reported. Read without a lock, and
/// written under that of the core.
///
/// Safety: threads may share it: the memory is there from `init` to `deinit`, indices are checked, and what changes is atomic.
@safe
@usableFromInline
final class DomainTable: @unchecked Sendable {
  @usableFromInline
  struct Domain: ~Copyable {
    @usableFromInline let leaseEnd = Atomic<UInt64>(0)
    @usableFromInline let generation = Atomic<UInt32>(0)
  }

  @usableFromInline let count: Int
  @usableFromInline let base: UnsafeMutablePointer<Domain>

  init(count: Int) {
    precondition(count > 0 && count <= 1 << 16)
    self.count = count
    unsafe base = .allocate(capacity: count)
    for index in 0..<count { unsafe (base + index).initialize(to: Domain()) }
  }

  deinit {
    unsafe base.deinitialize(count: count)
    unsafe base.deallocate()
  }

  /// Whether what was learnt of the domain in `generation` may be served without asking.
  ///
  /// The generation acquires what its raise released: who sees a new one does not see the lease of an old one. Nor does who is held up
  /// between the two take the lease of a new generation for that of the old one: it looks at the generation again.
  @inlinable
  @inline(__always)
  func isTrusted(_ domain: UInt16, _ generation: UInt32, at now: RemoteInstant) -> Bool {
    let index = Int(domain)
    precondition(index < count)
    return unsafe generation != 0 && base[index].generation.load(ordering: .acquiring) == generation
      && now.nanoseconds < base[index].leaseEnd.load(ordering: .acquiring)
      && base[index].generation.load(ordering: .relaxed) == generation
  }

  func generation(_ domain: UInt16) -> UInt32 {
    precondition(Int(domain) < count)
    return unsafe base[Int(domain)].generation.load(ordering: .acquiring)
  }

  func leaseEnd(_ domain: UInt16) -> RemoteInstant {
    precondition(Int(domain) < count)
    return unsafe RemoteInstant(nanoseconds: base[Int(domain)].leaseEnd.load(ordering: .relaxed))
  }

  func setLeaseEnd(_ domain: UInt16, _ end: RemoteInstant) {
    precondition(Int(domain) < count)
    unsafe base[Int(domain)].leaseEnd.store(end.nanoseconds, ordering: .releasing)
  }

  func raise(_ domain: UInt16, to generation: UInt32) {
    precondition(Int(domain) < count)
    unsafe base[Int(domain)].leaseEnd.store(0, ordering: .relaxed)
    unsafe base[Int(domain)].generation.store(generation, ordering: .releasing)
  }
}
