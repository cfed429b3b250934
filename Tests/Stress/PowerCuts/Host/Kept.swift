import EskerPlatform
import EskerTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The directory of a finding: the disk as the cut left it, what is known of the writes, and the order that found it.
struct Kept {
  private let path: String

  init(_ path: String) { self.path = path }

  var image: String { "\(path)/image" }
  private var ledger: String { "\(path)/ledger" }

  func write(_ order: Order, _ map: VirtualDisk.Map, of machine: Machine) throws {
    mkdir(path, 0o755)
    _ = try machine.perform(Order(.keep), file: ledger)
    try machine.disk.write(map, to: image)
    let file = open("\(path)/order", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { throw PlatformError("create", path: path, code: errno) }
    writeWhole(Array(order.line.utf8), to: file)
    close(file)
  }

  func order() throws -> Order {
    let files = OSFileSystem()
    let file = try files.open("\(path)/order", .read)
    defer { file.close() }
    var bytes = [UInt8](repeating: 0, count: try file.status().size)
    _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    guard let order = Order(String(decoding: bytes, as: UTF8.self)) else {
      throw UsageError("\(path) holds no finding")
    }
    return order
  }

  /// Has a machine check the disk again.
  func replay(_ settings: CutSettings) throws -> [Finding] {
    let order = try order()
    let machine = try Machine.start(settings, order.fileSystem, image: image)
    let size = try OSFileSystem().status(ledger)?.size ?? 0
    _ = try machine.perform(Order(.restore(size: size)), file: ledger)
    return try machine.perform(order).findings
  }
}
