extension EncodingSession {
  /// Writes values of the types that have a form of their own, or that Codable's generic containers ask for one by one.
  @inline(__always)
  func writeDirectly<T>(_ value: T) -> Bool {
    if T.self == Int.self {
      write(Int64(unsafeBitCast(value, to: Int.self)))
    } else if T.self == String.self {
      write(unsafeBitCast(value, to: String.self))
    } else if T.self == Double.self {
      write(unsafeBitCast(value, to: Double.self))
    } else if T.self == [UInt8].self {
      unsafeBitCast(value, to: [UInt8].self).withUnsafeBytes(writeBytes)
    } else {
      return writeFoundation(value)
    }
    return true
  }
}
