import ArgumentParser
import Esker

/// How keys are given on the command line and printed: in the form that the keyspace records, or as bytes.
struct KeyEncodingOption: ParsableArguments {
  @Option(help: "Give and print the bytes of keys as text, hex or base64, whatever form is recorded.")
  var keyEncoding: ByteEncoding?

  /// A key as it was given, which the keyspace may have to explain.
  enum Given {
    case bytes([UInt8])
    case text(String)

    /// The key's bytes, in a keyspace whose keys have that form.
    func bytes(in form: StoredForm, named name: String?) throws(ToolError) -> [UInt8] {
      switch self {
      case .bytes(let bytes): return bytes
      case .text(let text):
        guard let bytes = form.bytes(of: text) else { throw .notOfForm(text, what: "key", form: name ?? "") }
        return bytes
      }
    }

    func bytes(in keyspace: Keyspace) throws(ToolError) -> [UInt8] {
      try bytes(in: keyspace.shownKeys, named: keyspace.keyForm)
    }
  }

  /// A key of an argument. What is no text in the given encoding is refused before a store is opened.
  func given(_ key: String) throws(ToolError) -> Given { try Self.given(key, keyEncoding) }

  static func given(_ key: String, _ encoding: ByteEncoding?) throws(ToolError) -> Given {
    guard let encoding else { return .text(key) }
    guard let bytes = encoding.decode(ContiguousArray(key.utf8).span) else { throw .notEncoded(key, encoding) }
    return .bytes(bytes)
  }

  /// A key as it is printed: in the encoding, in its form, or as its bytes if it has neither.
  func printed(_ key: [UInt8], _ form: StoredForm) -> [UInt8] {
    Self.printed(key, form, keyEncoding)
  }

  static func printed(_ key: [UInt8], _ form: StoredForm, _ encoding: ByteEncoding?) -> [UInt8] {
    if let encoding { return encoding.encode(ContiguousArray(key).span) ?? key }
    guard form.isTranslated, let text = form.text(of: key) else { return key }
    return Array(text.utf8)
  }
}
