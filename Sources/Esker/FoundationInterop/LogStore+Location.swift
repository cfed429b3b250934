public import Foundation

extension LogStore {
  /// Where a system wants a program to keep its own files.
  public enum Location: Hashable, Sendable, CaseIterable {
    /// Data that the program needs: `Library/Application Support` on Apple's platforms, `$XDG_DATA_HOME` or `~/.local/share` on
    /// Linux. tvOS keeps nothing there: use ``caches``.
    case applicationSupport
    /// Data that can be downloaded or made again: `Library/Caches` on Apple's platforms, `$XDG_CACHE_HOME` or `~/.cache` on Linux.
    ///
    /// No backup contains it, and the system may remove a store, or some of its files, while it is not open. Opening what is
    /// left throws `StoreError.damaged`: remove the directory then, and begin anew.
    case caches

    /// The directory for a store of that name, in a directory that is the program's own: named by its bundle identifier, or by
    /// the name of the process where there is none.
    ///
    /// Makes the directories above it, readable to the user only, and not the directory itself, which opening a store does.
    ///
    /// - Throws: `StoreError.failed` if the name is not that of a single file, or the directories cannot be made.
    public func directory(named name: String) throws(StoreError) -> URL {
      try directory(named: name, program: Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)
    }

    func directory(named name: String, program: String) throws(StoreError) -> URL {
      let parts = [name, program]
      if let part = parts.first(where: { ["", ".", ".."].contains($0) || $0.contains("/") || $0.contains("\0") }) {
        throw .failed(operation: "name a directory", path: part, errno: 0)
      }
      let search: FileManager.SearchPathDirectory =
        switch self {
        case .applicationSupport: .applicationSupportDirectory
        case .caches: .cachesDirectory
        }
      guard let base = FileManager.default.urls(for: search, in: .userDomainMask).first else {
        throw .failed(operation: "find the user's directory for", path: name, errno: 0)
      }
      let parent = base.appending(path: program, directoryHint: .isDirectory)
      do {
        // What the XDG specification asks for, and what Apple's directories have.
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true, attributes: attributes)
      } catch {
        let posix = (error as? CocoaError)?.underlying as? POSIXError
        throw .failed(operation: "create", path: parent.path, errno: posix?.code.rawValue ?? 0)
      }
      return parent.appending(path: name, directoryHint: .isDirectory)
    }
  }
}

extension LogStore {
  /// Opens the program's own store of that name, or creates it.
  ///
  /// ```swift
  /// let store = try LogStore(named: "cities")
  /// let pages = try LogStore(named: "pages", in: .caches)
  /// ```
  ///
  /// - Throws: What ``LogStore/Location/directory(named:)`` and `init(at:options:)` throw.
  public convenience init(
    named name: String,
    in location: LogStore.Location = .applicationSupport,
    options: Options = Options()
  ) throws(StoreError) {
    try self.init(at: try location.directory(named: name), options: options)
  }
}
