/// Keeps the memory of an adopted image alive while one of its chunks is in use. Used by the writer only.
final class ImageHolder {
  var owner: (any AnyObject & Sendable)?

  init(owner: (any AnyObject & Sendable)? = nil) {
    self.owner = owner
  }
}
