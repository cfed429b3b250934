/// A key of a map, or a place in an array, as a document has it.
struct DocumentKey: CodingKey, Hashable {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    self.intValue = nil
  }

  init(intValue: Int) {
    self.stringValue = String(intValue)
    self.intValue = intValue
  }

  /// Where classes put what their superclass encodes.
  static let superclass = DocumentKey(stringValue: "super")

  static func index(_ index: Int) -> DocumentKey { DocumentKey(intValue: index) }
}
