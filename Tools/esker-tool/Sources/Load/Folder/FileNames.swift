import ArgumentParser
import Foundation

/// How keys are in the names of the files of a folder with a file for each key.
enum FileNames: String, ExpressibleByArgument, CaseIterable {
  /// Letters, digits, dots, dashes and underscores stand for themselves, other bytes are `%` and two digits, and an empty key is `%`.
  case percent
  /// As they are, with the names of folders in front.
  case plain
  /// As Shallows writes them: in base 64, also in that of addresses.
  case base64
  /// As Cache writes them: the MD5 of the key, and what is behind its last dot. The keys have to be known.
  case md5

  /// The name of the file of a key, for what is written; only ``percent`` writes.
  static func percent(of key: [UInt8]) -> String {
    guard !key.isEmpty else { return "%" }
    var name: [UInt8] = []
    for (index, byte) in key.enumerated() {
      if isPlain(byte), index > 0 || byte != UInt8(ascii: ".") {
        name.append(byte)
      } else {
        name += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
      }
    }
    return String(decoding: name, as: UTF8.self)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// The key that a name stands for; nil if it stands for none.
  ///
  /// - Parameter known: The keys by their names, where names do not tell them.
  func key(of name: String, _ known: [String: String]) -> [UInt8]? {
    switch self {
    case .plain: Array(name.utf8)
    case .percent: Self.withoutPercent(Array(name.utf8))
    case .base64:
      // A slash of base 64 has become that of a path.
      Data(base64Encoded: name.replacing("-", with: "+").replacing("_", with: "/")).map { Array($0) }
    case .md5: known[name].map { Array($0.utf8) }
    }
  }

  private static func withoutPercent(_ name: [UInt8]) -> [UInt8]? {
    guard name != [UInt8(ascii: "%")] else { return [] }
    var key: [UInt8] = []
    var index = 0
    while index < name.count {
      guard name[index] == UInt8(ascii: "%") else {
        key.append(name[index])
        index += 1
        continue
      }
      guard index + 2 < name.count, let high = hexValue(name[index + 1]), let low = hexValue(name[index + 2]) else {
        return nil
      }
      key.append(high << 4 | low)
      index += 3
    }
    return key
  }

  /// The name that Cache gives the file of a key.
  static func md5(of key: String) -> String {
    let digest = String(
      decoding: ByteEncoding.hex.encode(ContiguousArray(MD5.digest(of: Array(key.utf8))).span) ?? [],
      as: UTF8.self
    )
    let suffix = (key as NSString).pathExtension
    return suffix.isEmpty ? digest : "\(digest).\(suffix)"
  }
}
