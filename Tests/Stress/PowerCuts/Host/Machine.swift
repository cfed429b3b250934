import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A virtual machine with two disks, both served by this process: the one that loses power, and the mailbox. Or a process on this
/// machine, with two files that are served so.
final class Machine {
  /// What the machine said while it did something.
  struct Answer {
    var findings: [Finding] = []
    /// For each thread, the last write that its writer was told of.
    var written = ""
    var acknowledgements: [(position: Int, thread: Int, number: UInt64)] = []
  }

  /// Seconds without a word after which it is given up.
  private static let patience = 600
  private static let patienceOfABoot = 30
  /// As large as the largest ledger, and a block for lines.
  private static let mailboxSize = 256 << 20

  let disk: VirtualDisk
  private var process: ChildProcess
  private let mailbox: any DiskConnection
  /// What is to be done once the process has ended.
  private let ends: [() -> Void]
  /// A file that the machine puts or takes behind the mailbox's first block.
  private var file: Int32 = -1

  private init(
    _ disk: VirtualDisk,
    _ process: ChildProcess,
    _ mailbox: any DiskConnection,
    ends: [() -> Void] = []
  ) throws {
    (self.disk, self.process, self.mailbox, self.ends) = (disk, process, mailbox, ends)
  }

  /// Boots a virtual machine, with the help of the processor if that works; or starts a process here.
  static func start(_ settings: CutSettings, _ fileSystem: String, image: String) throws -> Machine {
    signal(SIGPIPE, SIG_IGN)
    let disk = try VirtualDisk(image)
    #if os(Linux)
      if let directory = settings.here { return try Machine(disk, here: directory) }
    #endif
    if settings.isAccelerated {
      if let machine = try? Machine(disk, settings, fileSystem, isAccelerated: true) { return machine }
      StandardStreams.say("KVM is there but boots no machine: it is emulated")
    }
    return try Machine(disk, settings, fileSystem, isAccelerated: false)
  }

  private convenience init(
    _ disk: VirtualDisk,
    _ settings: CutSettings,
    _ fileSystem: String,
    isAccelerated: Bool
  ) throws {
    let (diskSocket, mailboxSocket) = (try SocketPair(), try SocketPair())
    mailboxSocket.setPatience(seconds: isAccelerated ? Self.patienceOfABoot : Self.patience)
    let arguments =
      [
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-m", "1024", "-smp", "2",
        "-kernel", settings.kernel, "-initrd", settings.initramfs, "-serial", "file:\(settings.console)",
        "-append", "console=ttyS0 quiet edd=off panic=-1 file_system=\(fileSystem)",
      ]
      + (isAccelerated
        ? ["-accel", "kvm", "-cpu", "host,-arch-capabilities"] : ["-accel", "tcg,thread=multi", "-cpu", "max"])
      + Self.device("disk", diskSocket.other) + Self.device("mailbox", mailboxSocket.other)
    var process = try ChildProcess("QEMU", [settings.emulator] + arguments, program: settings.emulator)
    diskSocket.closeOther()
    mailboxSocket.closeOther()
    _ = try WorkerThread(name: "disk") {
      guard let connection = try? BlockConnection(diskSocket.own, size: disk.sectors * VirtualDisk.sector) else {
        return
      }
      disk.serve(connection)
    }
    do {
      let mailbox = try BlockConnection(mailboxSocket.own, size: Self.mailboxSize)
      try Self.greet(mailbox)
      mailboxSocket.setPatience(seconds: Self.patience)
      try self.init(disk, process, mailbox)
    } catch {
      process.kill()
      throw error
    }
  }

  #if os(Linux)
    /// A process of this machine, for which the disk and the mailbox are files in a directory.
    private convenience init(_ disk: VirtualDisk, here directory: String) throws {
      let diskFile = try FileConnection(at: "\(directory)/served-disk", size: disk.sectors * VirtualDisk.sector)
      let mailbox = try FileConnection(at: "\(directory)/served-mailbox", size: Self.mailboxSize)
      let process = try ChildProcess("guest", ["guest", directory, diskFile.path, mailbox.path])
      _ = try WorkerThread(name: "disk") { disk.serve(diskFile) }
      try Self.greet(mailbox)
      try self.init(disk, process, mailbox, ends: [diskFile.end, mailbox.end])
    }
  #endif

  /// Waits until it has put things in order.
  deinit {
    // An emulator goes on after its machine has switched itself off.
    if (try? perform(Order(.end))) == nil || ends.isEmpty { process.kill() }
    _ = process.join()
    for end in ends { end() }
  }

  private static func device(_ name: String, _ socket: Int32) -> [String] {
    [
      "-blockdev", "driver=nbd,node-name=\(name),server.type=fd,server.str=\(socket)",
      "-device", "virtio-blk-pci,drive=\(name),disable-legacy=on",
    ]
  }

  /// Until the program of the machine says hello, its kernel looks for partitions.
  private static func greet(_ mailbox: some DiskConnection) throws(ConnectionEnded) {
    while true {
      let request = try mailbox.next()
      switch request.kind {
      case .read(let count): try mailbox.answer(request, [UInt8](repeating: 0, count: count))
      case .write: return try mailbox.answer(request)
      case .flush: try mailbox.answer(request)
      }
    }
  }

  /// Has the machine do something, and waits until it is done.
  ///
  /// - Parameter path: the file that it puts or takes.
  func perform(_ order: Order, file path: String? = nil) throws -> Answer {
    if let path {
      file = open(path, O_RDWR | O_CREAT, 0o644)
      guard file >= 0 else { throw PlatformError("open", path: path, code: errno) }
    }
    defer {
      if path != nil { close(file) }
    }
    var answer = Answer()
    while true {
      let request = try mailbox.next()
      switch request.kind {
      case .read(let count):
        let bytes = request.offset == 0 ? Array(order.line.utf8) : read(request.offset - Mailbox.block, count)
        try mailbox.answer(request, bytes + [UInt8](repeating: 0, count: count - bytes.count))
      case .write(let bytes, _) where request.offset > 0:
        _ = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(request.offset - Mailbox.block)) }
        try mailbox.answer(request)
      case .write(let bytes, _):
        // Before the answer: what is acknowledged was written before.
        let isDone = take(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self), &answer)
        try mailbox.answer(request)
        if isDone { return answer }
      case .flush: try mailbox.answer(request)
      }
    }
  }

  /// Whether that was the last line of an answer.
  private func take(_ line: String, _ answer: inout Answer) -> Bool {
    let words = line.split(separator: "\t", maxSplits: 2).map(String.init)
    switch words.first {
    case "done": return true
    case "found" where words.count == 3: answer.findings.append(Finding(words[1], words[2]))
    case "written" where words.count == 2: answer.written = words[1]
    case "durable" where words.count == 3:
      answer.acknowledgements.append((disk.logged, Int(words[1]) ?? 0, UInt64(words[2]) ?? 0))
    default: answer.findings.append(Finding("odd line", line))
    }
    return false
  }

  private func read(_ offset: Int, _ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, count, off_t(offset)) }
    return Array(bytes.prefix(max(0, got)))
  }
}

/// Two sockets that are connected: one for this process, one for a child.
private struct SocketPair {
  let own: Int32
  let other: Int32

  init() throws(PlatformError) {
    #if canImport(Glibc)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    var pair: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, stream, 0, &pair) == 0 else {
      throw PlatformError("connect sockets", path: "", code: errno)
    }
    (own, other) = (pair[0], pair[1])
    // The child has the other one alone, so that either side hears when the other is gone.
    _ = fcntl(own, F_SETFD, FD_CLOEXEC)
  }

  func closeOther() { close(other) }

  func setPatience(seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }
}
