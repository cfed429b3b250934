#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file's bytes as a device holds them: only the pages that are not all zero, shared between copies.
struct PageImage: Sendable {
  static let pageSize = 4096
  static let sectorSize = 512
  static let zeros = [UInt8](repeating: 0, count: pageSize)

  private(set) var pages: [Int: [UInt8]] = [:]
  private(set) var length = 0

  /// The whole page, zeros where nothing was written.
  subscript(page: Int) -> [UInt8] {
    get { pages[page] ?? Self.zeros }
    set { pages[page] = newValue.isSame(as: Self.zeros) ? nil : newValue }
  }

  /// Sets the length; anything beyond it is gone for good.
  mutating func setLength(_ newLength: Int) {
    defer { length = newLength }
    guard newLength < length else { return }
    let (lastPage, used) = newLength.quotientAndRemainder(dividingBy: Self.pageSize)
    for page in pages.keys where page > lastPage || (page == lastPage && used == 0) { pages[page] = nil }
    if used > 0, var page = pages[lastPage] {
      page.replaceSubrange(used..., with: repeatElement(0, count: Self.pageSize - used))
      self[lastPage] = page
    }
  }
}

extension [UInt8] {
  /// Equality at the speed of `memcmp` even in debug builds, where it would otherwise take most of a crash test's time.
  func isSame(as other: [UInt8]) -> Bool {
    count == other.count
      && withUnsafeBytes { own in
        other.withUnsafeBytes { bytes in
          guard let first = own.baseAddress, let second = bytes.baseAddress else { return true }
          return first == second || memcmp(first, second, own.count) == 0
        }
      }
  }
}
