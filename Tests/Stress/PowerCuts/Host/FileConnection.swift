#if os(Linux)
  import EskerPlatform

  #if canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// A directory with one file that is served by this process, through FUSE, as far as a loop device and a few calls need it.
  ///
  /// The protocol is that of include/uapi/linux/fuse.h. Numbers are in the machine's order.
  final class FileConnection: DiskConnection, @unchecked Sendable {
    /// The file.
    var path: String { "\(directory)/file" }
    private let directory: String
    private let size: Int
    private let channel: Int32
    private let buffer: UnsafeMutableRawBufferPointer
    private static let mostBytes = 1 << 20

    private enum Code: UInt32 {
      case lookup = 1
      case forget, attributes, change
      case open = 14
      case read, write
      case release = 18
      case sync = 20
      case begin = 26
      case interrupt = 36
      case forgetMany = 42
    }

    init(at directory: String, size: Int) throws(PlatformError) {
      self.directory = directory
      self.size = size
      mkdir(directory, 0o700)
      channel = open("/dev/fuse", O_RDWR | O_CLOEXEC)
      guard channel >= 0 else { throw PlatformError("open", path: "/dev/fuse", code: errno) }
      buffer = .allocate(byteCount: Self.mostBytes + 8192, alignment: 8)
      let options = "fd=\(channel),rootmode=40000,user_id=\(getuid()),group_id=\(getgid())"
      guard mount("esker", directory, "fuse", UInt(MS_NOSUID | MS_NODEV), options) == 0 else {
        throw PlatformError("mount", path: directory, code: errno)
      }
    }

    /// Once nobody uses the file any more, the next request is that the connection has ended.
    func end() { umount2(directory, Int32(MNT_DETACH)) }

    deinit {
      close(channel)
      buffer.deallocate()
    }

    func next() throws(ConnectionEnded) -> DiskRequest {
      while true {
        let count = read(channel, buffer.baseAddress, buffer.count)
        if count < 0, errno == EINTR || errno == ENOENT { continue }
        guard count >= 40 else { throw ConnectionEnded() }
        if let request = try take(buffer[40..<count]) { return request }
      }
    }

    /// A read, a write or a sync. Everything else is answered at once.
    private func take(_ body: Slice<UnsafeMutableRawBufferPointer>) throws(ConnectionEnded) -> DiskRequest? {
      let code = Code(rawValue: buffer.load(fromByteOffset: 4, as: UInt32.self))
      let cookie = buffer.load(fromByteOffset: 8, as: UInt64.self)
      let node = buffer.load(fromByteOffset: 16, as: UInt64.self)
      func number<N: FixedWidthInteger>(at offset: Int, _: N.Type = N.self) -> N {
        buffer.loadUnaligned(fromByteOffset: 40 + offset, as: N.self)
      }
      switch code {
      case .read:
        return DiskRequest(
          kind: .read(count: Int(number(at: 16, UInt32.self))),
          offset: Int(number(at: 8, UInt64.self)),
          cookie: cookie
        )
      case .write:
        return DiskRequest(
          kind: .write(Array(body.dropFirst(40)), isDurable: false),
          offset: Int(number(at: 8, UInt64.self)),
          cookie: cookie
        )
      case .sync: return DiskRequest(kind: .flush, offset: 0, cookie: cookie)
      case .begin:
        // Version 7.31; large writes, and as many pages as they have.
        let flags = UInt32(1 << 5 | 1 << 22)
        let sizes =
          Self.bytes(UInt32(Self.mostBytes)) + Self.bytes(UInt32(1)) + Self.bytes(UInt16(Self.mostBytes >> 12))
        let begin =
          Self.bytes(UInt32(7)) + Self.bytes(UInt32(31)) + Self.bytes(UInt32(0)) + Self.bytes(flags)
          + Self.bytes(UInt32(0))
        try send(cookie, begin + sizes + [UInt8](repeating: 0, count: 64 - begin.count - sizes.count))
      case .lookup:
        let times = Self.bytes(UInt64(3600)) + Self.bytes(UInt64(3600)) + Self.bytes(UInt64(0))
        try send(cookie, Self.bytes(UInt64(2)) + Self.bytes(UInt64(0)) + times + attributes(of: 2))
      case .attributes, .change:
        try send(cookie, Self.bytes(UInt64(3600)) + Self.bytes(UInt64(0)) + attributes(of: node))
      // Past the page cache: each write is a request.
      case .open: try send(cookie, Self.bytes(UInt64(0)) + Self.bytes(UInt64(1)))
      case .release: try send(cookie, [])
      case .forget, .forgetMany, .interrupt: break
      // With that, closing asks no more, and so waits for nobody.
      default: try send(cookie, [], error: ENOSYS)
      }
      return nil
    }

    private func attributes(of node: UInt64) -> [UInt8] {
      let isRoot = node == 1
      let size = isRoot ? 0 : UInt64(size)
      let mode = UInt32(isRoot ? 0o040700 : 0o100600)
      let numbers = Self.bytes(node) + Self.bytes(size) + Self.bytes(size / 512) + [UInt8](repeating: 0, count: 36)
      return numbers + Self.bytes(mode) + Self.bytes(UInt32(1)) + [UInt8](repeating: 0, count: 12)
        + Self.bytes(UInt32(4096))
        + Self.bytes(UInt32(0))
    }

    func answer(_ request: DiskRequest, _ data: [UInt8]) throws(ConnectionEnded) {
      guard case .write(let bytes, _) = request.kind else { return try send(request.cookie, data) }
      try send(request.cookie, Self.bytes(UInt64(bytes.count)))
    }

    private func send(_ cookie: UInt64, _ data: [UInt8], error: Int32 = 0) throws(ConnectionEnded) {
      let bytes = Self.bytes(UInt32(16 + data.count)) + Self.bytes(-error) + Self.bytes(cookie) + data
      let sent = bytes.withUnsafeBytes { write(channel, $0.baseAddress, $0.count) }
      // Whoever asked may have been killed meanwhile.
      guard sent == bytes.count || errno == ENOENT else { throw ConnectionEnded() }
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number) { Array($0) }
    }
  }
#endif
