internal import Esker

/// A tag of a value: its name, and the version that the tag had before the value began to be made.
///
/// The list of tags is between the envelope and the value, if the envelope's flags say so:
///
/// ```
///  bytes
///      1  how many tags: 1 to 255
///  and of each
///     14  version: time 6, count 2, writer 6
///      1  length of the name: 1 to 255
///      n  the name, in UTF-8
/// ```
/// Numbers are big-endian. On disk: never renumber.
public struct RemoteTag: Hashable, Sendable {
  /// What the tag is called: 1 to 255 bytes of UTF-8.
  public let name: String
  /// The version that the tag must still have.
  public let version: RemoteVersion

  /// How many tags a value may have.
  public static let countLimit = 255
  /// How many bytes a name may have.
  public static let nameLimit = 255

  /// A tag and its version.
  public init(_ name: String, _ version: RemoteVersion) {
    self.name = name
    self.version = version
  }

  /// Whether this is the tag of a name, byte by byte: names of different scalars are different tags.
  func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }
}

extension [RemoteTag] {
  /// Appends the list.
  func append(to bytes: inout [UInt8]) {
    precondition(1...RemoteTag.countLimit ~= count)
    bytes.appendBigEndian(UInt64(count), count: 1)
    for tag in self {
      precondition(1...RemoteTag.nameLimit ~= tag.name.utf8.count)
      tag.version.append(to: &bytes)
      bytes.appendBigEndian(UInt64(tag.name.utf8.count), count: 1)
      bytes.append(contentsOf: tag.name.utf8)
    }
  }

  /// The list at the head of `bytes`, and how many of them it takes; nil if there is none.
  static func parse(_ bytes: RawSpan) -> (tags: [RemoteTag], length: Int)? {
    guard bytes.byteCount > 0 else { return nil }
    var tags: [RemoteTag] = []
    var offset = 1
    for _ in 0..<bytes.bigEndian(at: 0, count: 1) {
      guard bytes.byteCount - offset >= RemoteVersion.length + 1 else { return nil }
      let version = RemoteVersion(bytes, at: offset)
      let length = Int(bytes.bigEndian(at: offset + RemoteVersion.length, count: 1))
      offset += RemoteVersion.length + 1
      guard length > 0, bytes.byteCount - offset >= length,
        let name = String(validating: bytes.extracting(offset..<offset + length))
      else { return nil }
      offset += length
      tags.append(RemoteTag(name, version))
    }
    return tags.isEmpty ? nil : (tags, offset)
  }
}
