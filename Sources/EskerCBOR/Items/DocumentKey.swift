/// A key of a map or an index into an array, as found in a document.
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

  /// A key that has both, as the cases of `enum CodingKeys: Int, CodingKey`.
  init(stringValue: String, intValue: Int?) {
    self.stringValue = stringValue
    self.intValue = intValue
  }

  /// The key under which classes store what their superclass encodes.
  static let superclass = DocumentKey(stringValue: "super")

  static func index(_ index: Int) -> DocumentKey { DocumentKey(intValue: index) }
}
