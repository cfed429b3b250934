import CZlib
import Foundation

/// The bytes of an input: what is in it if it is compressed with gzip, which its first two bytes tell, and otherwise as they are.
///
/// Takes the same memory for any input. The members of a file that was put together of several follow one another.
///
/// Safety: the stream stays where it was allocated, as zlib keeps its address, from `init` to `deinit`. It has pointers into
/// buffers only during the call that lends them, with the room that is left there.
@safe
final class Gunzip {
  private enum Kind {
    case unknown
    case plain
    case gzip
  }

  private var kind = Kind.unknown
  private let name: String
  private let stream: UnsafeMutablePointer<z_stream>
  /// What was read and not yet taken: `start..<end`.
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var start = 0
  private var end = 0
  private var isAtEnd = false
  /// Whether a member has begun and not ended.
  private var isAmidMember = false
  private var hasStream = false
  /// Bytes read of a compressed input.
  private var taken = 0

  /// - Parameter name: The input's name, for messages.
  init(name: String) {
    self.name = name
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
  }

  deinit {
    if hasStream { unsafe inflateEnd(stream) }
    unsafe stream.deallocate()
  }

  /// How many bytes of the compressed input were read; nil if it is not compressed.
  var compressedBytesRead: Int? { kind == .gzip ? taken : nil }

  /// Reads some bytes into `bytes` starting at `position` and returns how many; 0 at the end.
  ///
  /// - Parameter read: Reads from the input in the same way.
  func read(
    into bytes: inout [UInt8],
    from position: Int,
    _ read: (inout [UInt8], Int) throws(ToolError) -> Int
  ) throws(ToolError) -> Int {
    if kind == .unknown {
      while end < 2, !isAtEnd { try fill(read) }
      kind = end >= 2 && buffer[0] == 0x1F && buffer[1] == 0x8B ? .gzip : .plain
    }
    guard kind == .gzip else {
      if start == end { return isAtEnd ? 0 : try read(&bytes, position) }
      let count = min(end - start, bytes.count - position)
      bytes.replaceSubrange(position..<position + count, with: buffer[start..<start + count])
      start += count
      return count
    }
    while true {
      if start == end {
        if !isAtEnd { try fill(read) }
        if isAtEnd {
          guard !isAmidMember else { throw .badGzip(name: name, why: "ends too early") }
          return 0
        }
      }
      if !isAmidMember, try !begin() { continue }
      let count = try inflate(into: &bytes, from: position)
      if count > 0 { return count }
    }
  }

  private func fill(_ read: (inout [UInt8], Int) throws(ToolError) -> Int) throws(ToolError) {
    if start == end { (start, end) = (0, 0) }
    let count = try read(&buffer, end)
    end += count
    taken += count
    if count == 0 { isAtEnd = true }
  }

  /// Begins with the next member; false for a zero behind one, with which some programs fill a block.
  private func begin() throws(ToolError) -> Bool {
    if hasStream, buffer[start] == 0 {
      start += 1
      return false
    }
    // 15 bits of window, and 16 for the gzip format.
    let code =
      hasStream
      ? unsafe inflateReset(stream)
      : unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard code == Z_OK else { throw .system(operation: "decompress", path: name, errno: ENOMEM) }
    hasStream = true
    isAmidMember = true
    return true
  }

  private func inflate(into bytes: inout [UInt8], from position: Int) throws(ToolError) -> Int {
    let room = bytes.count - position
    let available = end - start
    let code = unsafe buffer.withUnsafeMutableBufferPointer { input in
      unsafe bytes.withUnsafeMutableBufferPointer { output in
        unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + start }
        unsafe stream.pointee.avail_in = UInt32(available)
        unsafe stream.pointee.next_out = output.baseAddress.map { unsafe $0 + position }
        unsafe stream.pointee.avail_out = UInt32(clamping: room)
        return unsafe CZlib.inflate(stream, Z_NO_FLUSH)
      }
    }
    start += available - Int(unsafe stream.pointee.avail_in)
    switch code {
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END: isAmidMember = false
    case Z_MEM_ERROR: throw .system(operation: "decompress", path: name, errno: ENOMEM)
    default:
      let why = unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "it is damaged"
      throw .badGzip(name: name, why: why)
    }
    return min(room, Int(UInt32.max)) - Int(unsafe stream.pointee.avail_out)
  }
}
