#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The server's end of a disk that QEMU uses: the protocol of network block devices, as far as QEMU speaks it here.
///
/// The specification is doc/proto.md of the NBD project. Numbers are big-endian.
struct BlockConnection: DiskConnection {
  private let socket: Int32

  private enum Number {
    static let greeting: UInt64 = 0x4e42_444d_4147_4943
    static let option: UInt64 = 0x4948_4156_454f_5054
    static let optionReply: UInt64 = 0x0003_e889_0455_65a9
    static let request: UInt32 = 0x2560_9513
    static let reply: UInt32 = 0x6744_6698
    /// Fixed newstyle, and no padding of zeros.
    static let handshakeFlags: UInt16 = 0b11
    /// Has flags, takes flushes, takes writes that are durable by themselves.
    static let exportFlags: UInt16 = 0b1101
    static let (go, unsupported, information, acknowledged): (UInt32, UInt32, UInt32, UInt32) = (7, 1 << 31 | 1, 3, 1)
  }

  /// Agrees with the client on a disk of `size` bytes.
  init(_ socket: Int32, size: Int) throws(ConnectionEnded) {
    self.socket = socket
    try send(Self.bigEndian(Number.greeting) + Self.bigEndian(Number.option) + Self.bigEndian(Number.handshakeFlags))
    _ = try receive(4)
    while true {
      guard try number(UInt64.self) == Number.option else { throw ConnectionEnded() }
      let option = try number(UInt32.self)
      _ = try receive(Int(try number(UInt32.self)))
      guard option == Number.go else {
        try answer(option, Number.unsupported)
        continue
      }
      try answer(
        option,
        Number.information,
        Self.bigEndian(UInt16(0)) + Self.bigEndian(UInt64(size)) + Self.bigEndian(Number.exportFlags)
      )
      try answer(option, Number.acknowledged)
      return
    }
  }

  private func answer(_ option: UInt32, _ kind: UInt32, _ data: [UInt8] = []) throws(ConnectionEnded) {
    try send(
      Self.bigEndian(Number.optionReply) + Self.bigEndian(option) + Self.bigEndian(kind)
        + Self.bigEndian(UInt32(data.count)) + data
    )
  }

  /// Waits for the next request.
  func next() throws(ConnectionEnded) -> DiskRequest {
    guard try number(UInt32.self) == Number.request else { throw ConnectionEnded() }
    let flags = try number(UInt16.self)
    let kind = try number(UInt16.self)
    let cookie = try number(UInt64.self)
    let offset = Int(try number(UInt64.self))
    let count = Int(try number(UInt32.self))
    switch kind {
    case 0: return DiskRequest(kind: .read(count: count), offset: offset, cookie: cookie)
    case 1:
      return DiskRequest(kind: .write(try receive(count), isDurable: flags & 1 != 0), offset: offset, cookie: cookie)
    case 3: return DiskRequest(kind: .flush, offset: offset, cookie: cookie)
    default: throw ConnectionEnded()
    }
  }

  func answer(_ request: DiskRequest, _ data: [UInt8]) throws(ConnectionEnded) {
    try send(Self.bigEndian(Number.reply) + Self.bigEndian(UInt32(0)) + Self.bigEndian(request.cookie) + data)
  }

  // MARK: Bytes

  private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  private func number<N: FixedWidthInteger>(_: N.Type) throws(ConnectionEnded) -> N {
    try receive(MemoryLayout<N>.size).reduce(0) { $0 << 8 | N(truncatingIfNeeded: $1) }
  }

  private func receive(_ count: Int) throws(ConnectionEnded) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = bytes.withUnsafeMutableBytes {
        recv(socket, UnsafeMutableRawBufferPointer(rebasing: $0[done...]).baseAddress, count - done, 0)
      }
      guard got > 0 else { throw ConnectionEnded() }
      done += got
    }
    return bytes
  }

  private func send(_ bytes: [UInt8]) throws(ConnectionEnded) {
    var done = 0
    while done < bytes.count {
      let sent = bytes.withUnsafeBytes {
        write(socket, UnsafeRawBufferPointer(rebasing: $0[done...]).baseAddress, bytes.count - done)
      }
      guard sent > 0 else { throw ConnectionEnded() }
      done += sent
    }
  }
}
