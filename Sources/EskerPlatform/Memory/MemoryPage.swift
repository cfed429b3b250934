import CEskerShims

/// The pages in which the system hands out and maps memory.
public enum MemoryPage {
  /// The size of a page: 4 KiB on most machines, 16 KiB on Apple's own processors.
  public static let size = Int(esker_page_size())

  /// The smallest multiple of the page size that holds `length` bytes.
  static func roundUp(_ length: Int) -> Int { (length + size - 1) / size * size }
}
