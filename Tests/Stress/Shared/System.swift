#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

func exitProcess(_ code: Int32) -> Never { exit(code) }

/// Lets others have the processor for a while; nothing depends on how long it takes.
func pauseThread(microseconds: Int) {
  usleep(UInt32(microseconds))
}

enum StandardStreams {
  static func complain(_ text: String) { put(text, to: 2) }

  /// A line that is there at once, also in a pipe.
  static func say(_ text: String) { put(text, to: 1) }

  private static func put(_ text: String, to stream: Int32) { writeWhole(Array("\(text)\n".utf8), to: stream) }
}

/// Writes bytes in one call, as far as the system takes them in one.
func writeWhole(_ bytes: [UInt8], to file: Int32) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    guard count > 0 else { return }
    rest = rest.dropFirst(count)
  }
}
