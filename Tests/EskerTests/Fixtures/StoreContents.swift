import Esker
import Foundation

/// What a fixture of a store must hold: the file `contents.json` beside its files.
///
/// Bytes are texts, or if they are not UTF-8, hexadecimal digits behind `0x`.
struct StoreContents: Codable {
  struct Entry: Codable {
    var key: String
    var value: String
    /// Milliseconds since 1970.
    var expires: Int64?
    /// The value had expired at the instant of the fixture, so no read returns it.
    var isExpired: Bool?
    /// Reading it is an error.
    var isDamaged: Bool?
  }

  struct Keyspace: Codable {
    var name: String
    var keyForm: String?
    var valueForm: String?
    /// The most entries that it may have.
    var capacity: Int?
    /// In the order of the keys' bytes.
    var entries: [Entry]
  }

  struct Damage: Codable, Equatable {
    var file: String
    var records: Int
    var current: Int
  }

  /// What the fixture is there for.
  var about: String
  /// The instant at which to open the store, in milliseconds since 1970.
  var instant: Int64
  /// How long each file is: zeros at its end are left out of what is checked in.
  var lengths: [String: Int]
  /// What an opening finds: `clean` or `afterCrash`.
  var found: String
  /// How many openings the store's history has.
  var openings: Int
  var keyspaces: [Keyspace]
  /// What `verify` says.
  var damage: [Damage]

  static func text(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self), !text.hasPrefix("0x") { return text }
    return "0x" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  static func bytes(_ text: String) -> [UInt8] {
    guard text.hasPrefix("0x") else { return Array(text.utf8) }
    let digits = text.dropFirst(2).compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
