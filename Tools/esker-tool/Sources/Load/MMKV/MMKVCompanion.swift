/// What MMKV keeps of a file of entries in the file beside it, whose name has `.crc` behind it: how much of it counts, and its checksum.
struct MMKVCompanion {
  /// A state that the entries had: so many bytes behind the first four, and their checksum.
  struct State: Equatable {
    let length: Int
    let checksum: UInt32
  }

  /// How much of the file is known. MMKV makes it as long as a page of memory.
  private static let length = 112
  private static let mostLength = 1 << 20

  /// Up to which version of the file what is in it is known.
  private static let lastVersion: UInt32 = 6

  /// The states that may be there, the one that is to be there first.
  let states: [State]
  /// Whether each value ends with the instant at which it expires.
  let hasExpiry: Bool
  /// Whether the file is encrypted, or once was.
  let wasEncrypted: Bool

  /// The name of the companion of a file.
  static func name(of file: String) -> String { file + ".crc" }

  /// Whether a file has a companion, so that it is taken for one of MMKV's.
  static func isBeside(_ file: String) -> Bool {
    SystemCalls.status(name(of: file)).map { Int($0.st_size) >= length } ?? false
  }

  /// Reads the companion of a file.
  ///
  /// - Parameter oldLength: What the first four bytes of the file of entries say: how long the entries were in early versions.
  /// - Throws: ``ToolError/noInput(path:)`` if there is none; ``ToolError/badBytes(name:offset:why:)``.
  init(of file: String, oldLength: Int) throws(ToolError) {
    let name = Self.name(of: file)
    guard let bytes = try InputFile(name).readAll(limit: Self.mostLength) else {
      throw .badBytes(name: name, offset: Self.mostLength, why: "longer than what MMKV keeps beside a file")
    }
    guard bytes.count >= Self.length else {
      throw .badBytes(name: name, offset: bytes.count, why: "the file ends early")
    }
    func number(at place: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }
    let checksum = number(at: 0)
    let version = number(at: 4)
    guard version <= Self.lastVersion else {
      throw .badBytes(name: name, offset: 4, why: "version \(version) of the format is not known")
    }
    wasEncrypted = version >= 2 && bytes[12..<28].contains { $0 != 0 }
    let old = State(length: oldLength, checksum: checksum)
    if version >= 3 {
      // A version that came between may have written only the old place; and what was synced last may be all that is whole.
      let synced = State(length: Int(number(at: 32)), checksum: number(at: 36))
      // Without an entry neither is better than to say that the file is damaged.
      states = [State(length: Int(number(at: 28)), checksum: checksum)] + [old, synced].filter { $0.length > 5 }
    } else {
      states = [old]
    }
    let flags = version >= 4 ? UInt64(number(at: 104)) | UInt64(number(at: 108)) << 32 : 0
    guard flags <= 1 else { throw .badBytes(name: name, offset: 104, why: "flags \(flags) are not known") }
    hasExpiry = flags == 1
  }
}
