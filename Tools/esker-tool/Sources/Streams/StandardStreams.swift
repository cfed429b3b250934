import Foundation

enum StandardStreams {
  /// Opens `/dev/null` for each of the descriptors 0 to 2 that was closed when the process started.
  ///
  /// Otherwise the next file opened, a file of the store, would get such a number, and a message to standard error would be
  /// written into it. It is opened in the wrong direction for the stream, so using the stream remains an error.
  static func occupyClosedDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is `descriptor`, since those below it are in use by now.
      _ = SystemCalls.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
