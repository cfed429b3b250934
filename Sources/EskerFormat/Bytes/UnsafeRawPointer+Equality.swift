extension UnsafeRawPointer {
  /// Whether the next `count` bytes from here and from `other` are equal.
  ///
  /// Safety: the caller keeps both during the call.
  @inlinable
  public func equals(_ other: UnsafeRawPointer, count: Int) -> Bool {
    var offset = 0
    while count &- offset >= 8 {
      let same =
        unsafe loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if !same { return false }
      offset &+= 8
    }
    while offset < count {
      let same =
        unsafe load(fromByteOffset: offset, as: UInt8.self)
        == other.load(fromByteOffset: offset, as: UInt8.self)
      if !same { return false }
      offset &+= 1
    }
    return true
  }
}
