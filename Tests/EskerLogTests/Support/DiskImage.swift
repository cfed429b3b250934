import EskerPlatform
import EskerTestSupport

@testable import EskerLog

/// The bytes of a store's files, to be damaged and put on disks.
struct DiskImage {
  var files: [String: [UInt8]]
  let directory: String

  init(of machine: Machine) throws {
    directory = machine.path
    files = [:]
    for name in try machine.disk.list(directory) {
      let file = try machine.disk.open("\(directory)/\(name)", .read)
      files[name] = try file.allBytes()
    }
  }

  /// The names of the files, in order.
  var names: [String] { files.keys.sorted() }

  /// A machine whose disk holds these files and nothing else, none of them durable.
  func machine() throws -> Machine {
    let machine = Machine()
    try machine.disk.createDirectory(directory)
    for name in names {
      let file = try machine.disk.open("\(directory)/\(name)", .create)
      if let bytes = files[name], !bytes.isEmpty { try file.writeAll(bytes, at: 0) }
    }
    return machine
  }

  /// The image with one bit of a file turned over.
  func flipping(_ name: String, _ offset: Int, bit: Int) -> DiskImage {
    var image = self
    image.files[name]?[offset] ^= 1 << UInt8(bit)
    return image
  }

  /// The image with a file cut to `length`.
  func truncating(_ name: String, to length: Int) -> DiskImage {
    var image = self
    image.files[name]?.removeSubrange(length...)
    return image
  }
}
