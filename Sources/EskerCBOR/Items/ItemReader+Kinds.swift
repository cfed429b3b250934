extension ItemReader.Head {
  var isNull: Bool { initial == InitialByte.null || initial == InitialByte.undefined }

  /// What the item is, for error messages.
  var kind: String {
    switch major {
    case MajorType.unsigned, MajorType.negative: "an integer"
    case MajorType.bytes: "a byte string"
    case MajorType.text: "a text"
    case MajorType.array: "an array"
    case MajorType.map: "a map"
    case MajorType.tag: "a tagged item"
    default:
      switch initial {
      case InitialByte.no, InitialByte.yes: "a Boolean"
      case InitialByte.null: "null"
      case InitialByte.undefined: "undefined"
      case InitialByte.half, InitialByte.single, InitialByte.double: "a floating-point number"
      default: "a simple value"
      }
    }
  }
}
