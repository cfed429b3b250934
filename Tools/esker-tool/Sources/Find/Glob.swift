import ArgumentParser

/// A pattern for keys, as shells have for names of files: `*` is any text, `?` one character, `[a-z]` one of some and `[!a-z]` one
/// of all others, and a backslash takes away the meaning of what follows it.
struct Glob: ExpressibleByArgument {
  private enum Part {
    case anything
    case anyOne
    case exactly(UInt32)
    case oneOf([ClosedRange<UInt32>], isOthers: Bool)
  }

  private var parts: [Part]

  /// Nil if a bracket is not closed, or nothing follows a backslash.
  init?(argument: String) {
    var parts: [Part] = []
    var rest = Array(argument.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": parts.append(.anything)
      case "?": parts.append(.anyOne)
      case "[":
        guard let part = Self.brackets(&rest) else { return nil }
        parts.append(part)
      case "\\":
        guard let next = rest.popFirst() else { return nil }
        parts.append(.exactly(next.value))
      default: parts.append(.exactly(scalar.value))
      }
    }
    self.parts = parts
  }

  /// The same for text in lower case.
  var ignoringCase: Glob {
    var other = self
    other.parts = parts.map { part in
      switch part {
      case .anything, .anyOne: part
      case .exactly(let scalar): .exactly(Self.lowercased(scalar))
      case .oneOf(let ranges, let isOthers):
        .oneOf(
          ranges.flatMap { range in
            let (low, high) = (Self.lowercased(range.lowerBound), Self.lowercased(range.upperBound))
            return low <= high ? [range, low...high] : [range]
          },
          isOthers: isOthers
        )
      }
    }
    return other
  }

  /// What has no single letter in lower case stays as it is.
  private static func lowercased(_ scalar: UInt32) -> UInt32 {
    guard let lower = Unicode.Scalar(scalar)?.properties.lowercaseMapping.unicodeScalars, lower.count == 1 else {
      return scalar
    }
    return lower.first?.value ?? scalar
  }

  /// What is between brackets, of which the first one is read already.
  private static func brackets(_ rest: inout ArraySlice<Unicode.Scalar>) -> Part? {
    let isOthers = rest.first == "!" || rest.first == "^"
    if isOthers { rest.removeFirst() }
    var ranges: [ClosedRange<UInt32>] = []
    while let scalar = rest.popFirst() {
      // One that comes first stands for itself.
      if scalar == "]", !ranges.isEmpty { return .oneOf(ranges, isOthers: isOthers) }
      guard let low = scalar == "\\" ? rest.popFirst() : scalar else { return nil }
      var high = low
      if rest.first == "-", rest.dropFirst().first.map({ $0 != "]" }) ?? false {
        rest.removeFirst()
        guard let end = rest.popFirst() else { return nil }
        high = end
      }
      guard low.value <= high.value else { return nil }
      ranges.append(low.value...high.value)
    }
    return nil
  }

  /// Whether the pattern describes all of the text. Bytes that are not UTF-8 count as a character each.
  func matches(_ bytes: [UInt8]) -> Bool {
    let characters = Self.characters(of: bytes)
    var (part, position) = (0, 0)
    // Where the last star was, and up to where it reaches: what follows is tried again one character later, and an earlier star
    // need not be, as the last one reaches as far.
    var star: (part: Int, position: Int)?
    while position < characters.count {
      if part < parts.count, case .anything = parts[part] {
        part += 1
        star = (part, position)
      } else if part < parts.count, Self.matches(parts[part], characters[position]) {
        part += 1
        position += 1
      } else if let last = star {
        star = (last.part, last.position + 1)
        (part, position) = (last.part, last.position + 1)
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { if case .anything = $0 { true } else { false } }
  }

  private static func matches(_ part: Part, _ character: UInt32) -> Bool {
    switch part {
    case .anything, .anyOne: true
    case .exactly(let expected): character == expected
    case .oneOf(let ranges, let isOthers): ranges.contains { $0.contains(character) } != isOthers
    }
  }

  private static func characters(of bytes: [UInt8]) -> [UInt32] {
    var characters: [UInt32] = []
    characters.reserveCapacity(bytes.count)
    var decoder = UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    var position = 0
    while true {
      switch decoder.parseScalar(from: &rest) {
      case .emptyInput: return characters
      case .valid(let encoded):
        characters.append(UTF8.decode(encoded).value)
        position += encoded.count
      case .error(let length):
        // Beyond all characters.
        for byte in bytes[position..<position + length] { characters.append(0x11_0000 + UInt32(byte)) }
        position += length
      }
    }
  }
}
