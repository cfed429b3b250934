internal import EskerFormat
internal import EskerPlatform

/// An operation that creates a store from another one, in a directory that contains its mark until it is complete.
enum CopyKind: String, CaseIterable {
  case backup, restore, repair

  /// The file name of the mark.
  var mark: String { "\(rawValue).unfinished" }

  /// The kind whose mark is among these names.
  static func marked(among names: [String]) -> CopyKind? {
    allCases.first { names.contains($0.mark) }
  }

  /// Throws if a directory with these names is an unfinished copy.
  static func refuseUnfinished(_ names: [String], at path: String, _ fileSystem: any FileSystem) throws(StoreError) {
    if let kind = marked(among: names) { throw kind.unfinished(at: path, fileSystem) }
  }

  /// The error that names the mark, and the process that is writing the copy, if any.
  func unfinished(at path: String, _ fileSystem: any FileSystem) -> StoreError {
    let file = try? fileSystem.open("\(path)/\(mark)", .read)
    defer { file?.close() }
    let isHeld = (try? file?.tryLock(exclusive: false)) == false
    let holder = isHeld ? file.flatMap { CopyMark($0) }?.processID : nil
    return .unfinishedCopy(path: path, mark: mark, holder: Int32(bitPattern: holder ?? 0))
  }
}

extension CopyMark {
  /// Reads a mark; nil if the file cannot be read, or is incomplete after a crash.
  init?(_ file: any File) {
    // Safety: the array outlives the decoding, which checks its length.
    guard let bytes = try? ContiguousArray(file.bytes(in: 0..<Self.length)),
      let mark = try? CopyMark(decoding: unsafe bytes.span.bytes)
    else { return nil }
    self = mark
  }
}
