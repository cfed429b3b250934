internal import EskerFormat
internal import EskerPlatform

/// What makes a store out of another one, in a directory that bears its mark until that is done.
enum CopyKind: String, CaseIterable {
  case backup, restore, repair

  /// The mark's file name.
  var mark: String { "\(rawValue).unfinished" }

  /// The kind whose mark is among these names.
  static func marked(among names: [String]) -> CopyKind? {
    allCases.first { names.contains($0.mark) }
  }

  /// Throws if a directory with these names is a copy that is not whole.
  static func refuseUnfinished(_ names: [String], at path: String, _ fileSystem: any FileSystem) throws(StoreError) {
    if let kind = marked(among: names) { throw kind.unfinished(at: path, fileSystem) }
  }

  /// The error that names the mark, and the process that is at work if there is one.
  func unfinished(at path: String, _ fileSystem: any FileSystem) -> StoreError {
    let file = try? fileSystem.open("\(path)/\(mark)", .read)
    defer { file?.close() }
    let isHeld = (try? file?.tryLock(exclusive: false)) == false
    let holder = isHeld ? file.flatMap { CopyMark($0) }?.processID : nil
    return .unfinishedCopy(path: path, mark: mark, holder: Int32(bitPattern: holder ?? 0))
  }
}

extension CopyMark {
  /// What a file says; nil when it cannot be read, or a crash left less than the whole of it.
  init?(_ file: any File) {
    // Safety: the array outlives the decoding, which checks its length.
    guard let bytes = try? file.bytes(in: 0..<Self.length), let mark = try? CopyMark(decoding: unsafe bytes.span.bytes)
    else { return nil }
    self = mark
  }
}
