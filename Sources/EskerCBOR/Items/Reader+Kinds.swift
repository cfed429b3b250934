extension Reader.Head {
  var isNull: Bool { initial == Initial.null || initial == Initial.undefined }

  /// What the item is, for error messages.
  var kind: String {
    switch major {
    case Major.unsigned, Major.negative: "an integer"
    case Major.bytes: "a byte string"
    case Major.text: "a text"
    case Major.array: "an array"
    case Major.map: "a map"
    case Major.tag: "a tagged item"
    default:
      switch initial {
      case Initial.no, Initial.yes: "a Boolean"
      case Initial.null: "null"
      case Initial.undefined: "undefined"
      case Initial.half, Initial.single, Initial.double: "a floating-point number"
      default: "a simple value"
      }
    }
  }
}
