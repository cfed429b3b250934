import Esker

extension StoredForm {
  /// A value as it is inside: without its compression and checksums, and without the mark of a version.
  struct Content {
    var form: StoredForm
    var bytes: [UInt8]
    /// The version that the value is marked with.
    var version: UInt16?
  }

  /// What is inside of a value; nil if a checksum does not match, or what is compressed cannot be read.
  func content(of value: [UInt8]) -> Content? {
    if let content = plainContent(of: value) { return content }
    guard let version = Self.version(of: value), self != .raw else { return nil }
    var content = plainContent(of: Array(value.dropFirst(6)))
    if content?.version == nil { content?.version = version }
    return content
  }

  private func plainContent(of value: [UInt8]) -> Content? {
    guard case .transformed(let form, let steps) = self else {
      guard let version = Self.version(of: value), self != .raw, misfit(of: value) != nil else {
        return Content(form: self, bytes: value)
      }
      return Content(form: self, bytes: Array(value.dropFirst(6)), version: version)
    }
    var inner = value
    for step in steps.reversed() {
      guard let back = try? step.transformer.decode(inner) else { return nil }
      inner = back
    }
    return form.content(of: inner)
  }

  /// What the bytes of a key, or the content of a value, are instead of this form, such as `3 bytes`; nil if they have it, or the tool does
  /// not know it.
  func misfit(of bytes: [UInt8]) -> String? {
    switch self {
    case .raw: return nil
    case .text: return UTF8Check.isValid(ContiguousArray(bytes).span) ? nil : "no text"
    case .integer(let length, _, _), .float(let length, _):
      return bytes.count == length ? nil : NumberText.count(bytes.count, "byte")
    case .date: return bytes.count == 8 ? nil : NumberText.count(bytes.count, "byte")
    case .uuid: return bytes.count == 16 ? nil : NumberText.count(bytes.count, "byte")
    case .bool:
      return bytes == [0] || bytes == [1]
        ? nil : bytes.count == 1 ? "another byte" : NumberText.count(bytes.count, "byte")
    case .json:
      return JSONCursor.isDocument(ContiguousArray(bytes).span) && UTF8Check.isValid(ContiguousArray(bytes).span)
        ? nil : Self.look(of: bytes)
    case .cbor: return CBORText.json(of: bytes) == nil ? Self.look(of: bytes) : nil
    case .composite(let forms):
      guard let parts = CompositeText.split(bytes, into: forms.count) else { return "fewer parts" }
      for (number, (part, form)) in zip(parts, forms).enumerated() {
        if let misfit = form.misfit(of: part) { return "\(misfit) as part \(number + 1)" }
      }
      return nil
    case .transformed: return content(of: bytes).map { $0.form.misfit(of: $0.bytes) } ?? "not whole"
    }
  }

  /// What bytes may be that are not what they should.
  private static func look(of bytes: [UInt8]) -> String {
    if bytes.isEmpty { return "nothing" }
    if JSONCursor.isDocument(ContiguousArray(bytes).span), UTF8Check.isValid(ContiguousArray(bytes).span) {
      return "JSON"
    }
    if isShowable(bytes) { return "text" }
    return CBORText.json(of: bytes) == nil ? "other bytes" : "CBOR"
  }

  /// The shape of a content; nil if it has none, such as a number of its own form.
  static func shape(of content: Content) -> ValueShape? {
    switch content.form {
    case .cbor: CBORText.json(of: content.bytes, isMarked: true).map { ValueShape(marked: $0) }
    case .json: String(validating: content.bytes, as: UTF8.self).map { ValueShape(marked: $0) }
    default: nil
    }
  }
}
