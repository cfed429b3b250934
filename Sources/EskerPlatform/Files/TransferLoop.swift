#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Repeats a system call that may transfer fewer bytes than requested, or be interrupted, until all are transferred.
package enum TransferLoop {
  /// The most to request in one call; Linux transfers at most 2 GiB - 4 KiB, Apple's systems refuse more than 2 GiB - 1.
  package static let largestStep = 1 << 30

  /// Calls `step` with (bytes done, bytes wanted) until `count` bytes are done or it reports the end of the file.
  ///
  /// `step` returns how many bytes it transferred, 0 at the end of the file, or the negated error number. Returns the total,
  /// or the negated error number.
  package static func run(count: Int, step: (_ done: Int, _ wanted: Int) -> Int) -> Int {
    var done = 0
    while done < count {
      let moved = step(done, min(count - done, largestStep))
      if moved == -Int(EINTR) { continue }
      if moved < 0 { return moved }
      if moved == 0 { break }
      done += moved
    }
    return done
  }
}
