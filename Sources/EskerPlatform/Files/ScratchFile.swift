import CEskerShims

/// A file without a name, in memory where the system supports that; it disappears with its last reference and mapping.
package struct ScratchFile: Sendable {
  /// The file, open for reading and writing.
  package let file: any File
  private let descriptor: Int32

  /// Creates an empty one; throws the system's error if that fails.
  package init() throws(PlatformError) {
    descriptor = esker_scratch_file()
    guard descriptor >= 0 else { throw PlatformError("create", path: "scratch", code: -descriptor) }
    file = OSFile(path: "scratch", descriptor: descriptor, isWritable: true)
  }

  /// The next run of bytes at or after `offset` that may be nonzero; nil when only zeros follow.
  ///
  /// The cost depends on what was written, not on the length of the file.
  package func data(from offset: Int) -> Range<Int>? {
    // Safety: the call fills a local.
    var end: Int64 = 0
    let start = unsafe esker_next_data(descriptor, Int64(offset), &end)
    return start >= 0 && end > start ? Int(start)..<Int(end) : nil
  }
}
