/// The lines of standard input, where that is no terminal to edit them on.
///
/// Read byte by byte, as shells do: a command that reads standard input gets what follows its line.
struct CommandLines: ~Copyable {
  private let input: InputFile
  private static let limit = 64 << 20

  init() throws(ToolError) {
    input = try InputFile("-")
  }

  /// The next line; nil at the end.
  mutating func next() throws(ToolError) -> String? {
    var line: [UInt8] = []
    var byte: [UInt8] = [0]
    while true {
      guard try input.read(into: &byte, from: 0) > 0 else {
        guard !line.isEmpty else { return nil }
        break
      }
      if byte[0] == 0x0A { break }
      guard line.count < Self.limit else { throw .longLine }
      line.append(byte[0])
    }
    guard let text = String(validating: line, as: UTF8.self) else { throw .lineNotUTF8 }
    return text
  }
}
