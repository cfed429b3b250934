/// Keeps the memory of an adopted image while a chunk of it is in use.
///
/// The writer's alone.
final class ImageHolder {
  var owner: (any AnyObject & Sendable)?

  init(owner: (any AnyObject & Sendable)? = nil) {
    self.owner = owner
  }
}
