/// An uncounted reference to an object that something else keeps alive.
///
/// Safety: whoever makes one sees to it that the object is alive whenever ``with(_:)`` is called, and says why that is so.
@safe
struct BorrowedObject<Object: AnyObject> {
  let reference: Unmanaged<Object>

  @unsafe
  init(_ object: Object) {
    unsafe reference = Unmanaged.passUnretained(object)
  }

  init(_ reference: Unmanaged<Object>) {
    unsafe self.reference = reference
  }

  @inline(__always)
  func with<R>(_ body: (Object) throws -> R) rethrows -> R {
    try unsafe reference._withUnsafeGuaranteedRef { try body($0) }
  }
}
