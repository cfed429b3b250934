import CEskerShims

extension Platform {
  /// The size of a page of memory: 4 KiB on most machines, 16 KiB on Apple's own processors.
  public static let pageSize = Int(esker_page_size())

  /// The smallest multiple of the page size that holds `length` bytes.
  static func roundUpToPage(_ length: Int) -> Int {
    (length + pageSize - 1) / pageSize * pageSize
  }
}
