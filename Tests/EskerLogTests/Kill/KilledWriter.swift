#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Another process that writes to a store until this one kills it.
struct KilledWriter {
  /// The last operation of each thread that was acknowledged.
  private(set) var acknowledged: [UInt64]
  /// The signal that ended the process, or 0.
  private(set) var signal: Int32 = 0

  /// Runs a writer on the store at `path` and kills it after that many microseconds.
  init(path: String, from starts: [UInt64], killedAfter microseconds: UInt32) throws {
    acknowledged = starts
    let (process, output) = try ChildProgram.start("esker-crash-writer", [path] + starts.map { "\($0)" })
    defer { close(output) }
    let deadline = ContinuousClock.now + .microseconds(Int(microseconds))
    var isKilled = false
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var rest: [UInt8] = []
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      if left <= .zero, !isKilled {
        kill(process, SIGKILL)
        isKilled = true
      }
      var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      let wait = isKilled ? 1_000 : Int32(left / .milliseconds(1))
      guard poll(&request, 1, wait) > 0 else { continue }
      let count = read(output, &buffer, buffer.count)
      guard count > 0 else { break }
      rest += buffer[..<count]
      take(&rest)
    }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    signal = status & 0x7f
    if signal != SIGKILL {
      throw ChildProgram.CannotRun(reason: "the writer ended by itself: \(String(decoding: rest, as: UTF8.self))")
    }
  }

  private mutating func take(_ bytes: inout [UInt8]) {
    var offset = 0
    while bytes.count - offset >= 16 {
      let (thread, number) = bytes.withUnsafeBytes { buffer in
        (
          buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
          buffer.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
        )
      }
      guard thread < acknowledged.count else { break }
      acknowledged[Int(thread)] = number
      offset += 16
    }
    bytes.removeFirst(offset)
  }
}
