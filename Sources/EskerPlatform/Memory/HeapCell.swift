/// A value on the heap that can be changed in place through a constant.
///
/// For state that only one thread uses at a time anyway, because a lock guards it or only the writer touches it. Stored
/// properties of a class pay for an exclusivity check on each change, and a borrowed struct cannot be changed at all.
///
/// Safety: the cell owns the memory from `init` to `deinit`, and no pointer to it gets out. Nothing checks that accesses do
/// not overlap, so a cell is not `Sendable`, and its owner keeps two rules: only one thread at a time uses it, and nothing
/// that runs during a change of ``value`` uses it again.
@frozen
@safe
public struct HeapCell<Value: ~Copyable>: ~Copyable {
  @usableFromInline let pointer: UnsafeMutablePointer<Value>

  /// Puts a value on the heap. The owner must state why it keeps the two rules.
  @inlinable
  @unsafe
  public init(_ value: consuming Value) {
    unsafe pointer = .allocate(capacity: 1)
    unsafe pointer.initialize(to: value)
  }

  @inlinable
  deinit {
    unsafe pointer.deinitialize(count: 1)
    unsafe pointer.deallocate()
  }

  /// The value in place.
  @inlinable
  public var value: Value {
    @inline(__always) _read { yield unsafe pointer.pointee }
    @inline(__always) nonmutating _modify { yield unsafe &pointer.pointee }
  }
}
