/// Checks that Codable's keyed containers are what a shelf assumes: one reference to an object.
///
/// They are on all systems, but this is not guaranteed, so either session checks it once for its own.
///
/// Safety: a container as large as a reference is read as a number, which is only compared with the reference expected
/// there. Containers are treated as references, and references as containers of the type they came from, only where the two
/// were equal.
enum ContainerLayout {
  /// Whether a container consists of one reference, and so do all of its kind.
  static func isOneReference<Container>(_ container: Container) -> Bool {
    guard MemoryLayout<Container>.size == MemoryLayout<UInt>.size,
      let content = Mirror(reflecting: container).children.first?.value,
      type(of: content) is AnyClass
    else { return false }
    return unsafe unsafeBitCast(container, to: UInt.self) == UInt(bitPattern: ObjectIdentifier(content as AnyObject))
  }

  /// The reference that a container consists of; only valid if ``isOneReference(_:)`` is true of its kind.
  static func reference<Container>(_ container: Container) -> AnyObject {
    unsafe unsafeBitCast(container, to: AnyObject.self)
  }

  /// The container that consists of `reference`, which was taken from one of the same type.
  @inline(__always)
  static func container<Container>(_ reference: consuming AnyObject) -> Container {
    unsafe unsafeBitCast(reference, to: Container.self)
  }
}
