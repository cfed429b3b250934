/// Finds where the elements of a JSON list end, or the members of an object, without looking at what they are.
///
/// An element ends before a comma or the list's closing bracket that is neither in a string nor within brackets.
struct ElementBounds {
  /// The bracket that closes the list or the object.
  var closing = UInt8(ascii: "]")
  /// Whether the list's own bracket was met; set by the reader.
  var isClosed = false
  private var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// The index of the comma or bracket that ends an element; nil if it does not end in the range. The next call begins there.
  mutating func scan(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
    var position = start
    while position < end {
      let byte = bytes[position]
      position += 1
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case closing where depth == 0, UInt8(ascii: ",") where depth == 0: return position - 1
      case UInt8(ascii: "}") where depth > 0, UInt8(ascii: "]") where depth > 0: depth -= 1
      default: break
      }
    }
    return nil
  }
}
