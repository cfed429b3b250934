#if os(Linux)
  import EskerPlatform

  #if canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// A file as a disk.
  struct LoopDevice {
    let path: String
    private static let (nextFree, attach, detach): (UInt, UInt, UInt) = (0x4c82, 0x4c00, 0x4c01)
    private static let dropCache: UInt = 0x1261

    init(_ file: String) throws(PlatformError) {
      let (control, disk) = (open("/dev/loop-control", O_RDWR | O_CLOEXEC), open(file, O_RDWR | O_CLOEXEC))
      defer {
        close(control)
        close(disk)
      }
      guard control >= 0, disk >= 0 else { throw PlatformError("open", path: file, code: errno) }
      path = "/dev/loop\(ioctl(control, Self.nextFree))"
      let device = open(path, O_RDWR | O_CLOEXEC)
      // Nobody keeps it open: then what the kernel knows of it goes with each unmounting.
      defer { close(device) }
      guard device >= 0, ioctl(device, Self.attach, disk) == 0 else {
        throw PlatformError("attach", path: path, code: errno)
      }
    }

    func detach() { control(Self.detach) }

    /// Has the kernel forget what the disk has held: it has changed behind its back.
    func forget() { control(Self.dropCache) }

    private func control(_ request: UInt) {
      let device = open(path, O_RDWR | O_CLOEXEC)
      guard device >= 0 else { return }
      _ = ioctl(device, request, CInt(0))
      close(device)
    }
  }
#endif
