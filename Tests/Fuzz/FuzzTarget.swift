import Foundation

/// A decoder, and what it takes to fuzz it.
struct FuzzTarget: Sendable {
  let name: String
  /// The longest input that is worth trying, in bytes.
  var longest = 4096
  /// Puts right checksums on what was changed; nil if there are none.
  var repair: (@Sendable (inout [UInt8]) -> Void)?
  /// Inputs to begin with, by name.
  let samples: @Sendable () throws -> [String: [UInt8]]
  /// Decodes an input, which is at an address aligned to 16 and gone afterwards. Bytes that are refused are nothing to tell of.
  let run: @Sendable (UnsafeRawBufferPointer) -> Void

  static let all: [FuzzTarget] = [
    .segment, .manifest, .checkpoint, .footer, .packed, .lz4, .statistics, .lock, .copyMark, .stream, .importing, .cbor,
    .resp, .store,
  ]

  func writeSamples(to directory: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    for (name, bytes) in try samples() {
      var repaired = bytes
      repair?(&repaired)
      require(repaired == bytes, "\(self.name): the checksums of \(name) were right, and are others after the repair")
      try Data(bytes).write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
    }
  }
}

/// Ends the process if what must hold does not: libFuzzer then keeps the input.
func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError(what()) }
}

/// What must not be refused, such as bytes that were just encoded.
func requireAccepted<R>(_ what: String, _ body: () throws -> R) -> R {
  do { return try body() } catch { fatalError("\(what): \(error)") }
}
