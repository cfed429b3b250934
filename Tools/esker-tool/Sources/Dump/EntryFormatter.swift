import Esker

/// Formats entries one by one.
protocol EntryFormatter {
  /// The text before the first entry.
  var header: [UInt8] { get }

  /// Writes an entry, including the line feed.
  mutating func write(_ entry: borrowing Snapshot.Entry, to output: inout BufferedOutput) throws
}

/// The error for an entry that cannot be written as text.
func notText(_ key: RawSpan) -> ToolError {
  let name = key.withBytes { bytes -> String in
    if UTF8Check.isValid(bytes) { return "\"\(bytes.text)\"" }
    return "0x" + String(decoding: ByteEncoding.hex.encode(bytes) ?? [], as: UTF8.self)
  }
  return .notRepresentable(key: name, why: "is not text: choose --encoding hex or base64")
}
