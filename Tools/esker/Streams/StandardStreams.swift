import Foundation

enum StandardStreams {
  /// Fills descriptors 0 to 2 where the process was started with one closed.
  ///
  /// The next file opened would get such a number otherwise: that is a file of the store, and a message for standard error
  /// would be written into it. The replacement cannot be used in the stream's own direction, so that using it is an error
  /// as it would have been.
  static func occupyClosedDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is `descriptor`, since those below it are in use by now.
      _ = SystemCalls.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
