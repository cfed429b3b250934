import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How the virtual machine and its host talk: a second disk. To write to it is to say something, which the host hears between two
/// requests to the first disk; to read from it is to wait for what comes next.
///
/// A line is a block that begins with it. Behind the blocks of lines, a file can be put and taken.
final class Mailbox: Sendable {
  static let block = 4096
  /// Bytes of a file that are put or taken at once.
  private static let piece = 1 << 18
  private let file: Int32

  init(at path: String) throws(PlatformError) {
    // Past the page cache; Glibc keeps the name of the flag to itself.
    #if arch(arm64)
      let direct: Int32 = 0o200000
    #else
      let direct: Int32 = 0o40000
    #endif
    file = open(path, O_RDWR | direct)
    guard file >= 0 else { throw PlatformError("open", path: path, code: errno) }
  }

  deinit { close(file) }

  /// Says something. Returns once the host has heard it.
  func say(_ line: String) {
    let bytes = Array(line.utf8.prefix(Self.block - 1))
    withBlock { block in
      block.copyBytes(from: bytes)
      if pwrite(file, block.baseAddress, block.count, 0) != block.count { exitProcess(5) }
    }
  }

  /// Waits for what the host says; nil if it is gone.
  func hear() -> String? {
    withBlock { block in
      guard pread(file, block.baseAddress, block.count, 0) == block.count else { return nil }
      return String(decoding: block.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// Gives the host a file, without what is zero in it.
  func put(_ path: String) {
    let source = open(path, O_RDONLY)
    guard source >= 0 else { return }
    defer { close(source) }
    withBlock(of: Self.piece) { piece in
      var offset = off_t(0)
      while pread(source, piece.baseAddress, piece.count, offset) > 0 {
        if piece.contains(where: { $0 != 0 }) {
          _ = pwrite(file, piece.baseAddress, piece.count, offset + off_t(Self.block))
        }
        offset += off_t(piece.count)
      }
    }
  }

  /// Takes a file of so many bytes from the host.
  func take(_ path: String, size: Int) {
    let target = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard target >= 0 else { return }
    defer { close(target) }
    withBlock(of: Self.piece) { piece in
      for offset in stride(from: off_t(0), to: off_t(size), by: piece.count) {
        guard pread(file, piece.baseAddress, piece.count, offset + off_t(Self.block)) == piece.count else { return }
        if piece.contains(where: { $0 != 0 }) { _ = pwrite(target, piece.baseAddress, piece.count, offset) }
      }
    }
  }

  private func withBlock<R>(of size: Int = block, _ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: Self.block)
    defer { block.deallocate() }
    block.initializeMemory(as: UInt8.self, repeating: 0)
    return body(block)
  }
}
