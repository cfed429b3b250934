import Foundation

/// Reads a property list that is XML, as far as property lists use that. What is within what is kept in a list: depth takes no stack.
struct XMLPropertyList {
  /// What may stand in front of the first element.
  static let starts = ["<?xml", "<!DOCTYPE plist", "<plist"].map { Array($0.utf8) }

  private enum Token: Equatable {
    case open(String)
    case close(String)
    /// An element with nothing in it.
    case empty(String)
    case end
  }

  private struct Container {
    let isDictionary: Bool
    var values: [PropertyListValue] = []
    var members: [String: PropertyListValue] = [:]
    /// The key whose value comes next.
    var key: String?
  }

  private let bytes: [UInt8]
  private var position = 0
  /// Of the tag read last.
  private var lastName = ""
  private var isEmptyTag = false

  /// The value at the top.
  static func read(_ bytes: [UInt8]) throws(PropertyListFault) -> PropertyListValue {
    guard UTF8Check.isValid(ContiguousArray(bytes).span) else {
      throw PropertyListFault(offset: 0, why: "not valid UTF-8")
    }
    var list = XMLPropertyList(bytes: bytes)
    return try list.read()
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private func fault(_ why: String) -> PropertyListFault { PropertyListFault(offset: position, why: why) }

  private mutating func read() throws(PropertyListFault) -> PropertyListValue {
    guard try token() == .open("plist") else { throw fault("no element plist at the top") }
    var containers: [Container] = []
    while true {
      let finished: PropertyListValue
      switch try token() {
      case .open("dict"), .open("array"):
        guard containers.count < PropertyListValue.maximumDepth else {
          throw fault("lists that are too deep within each other")
        }
        containers.append(Container(isDictionary: lastName == "dict"))
        continue
      case .close("dict"), .close("array"):
        guard let container = containers.popLast(), container.isDictionary == (lastName == "dict"), container.key == nil
        else { throw fault("an element is closed that is not open, or lacks a value") }
        finished = container.isDictionary ? .dictionary(container.members) : .list(container.values)
      case .open("key"), .empty("key"):
        let key = isEmptyTag ? "" : try text(of: "key")
        guard let last = containers.indices.last, containers[last].isDictionary, containers[last].key == nil,
          containers[last].members[key] == nil
        else { throw fault("a key where none is expected, or one that occurs twice") }
        containers[last].key = key
        continue
      case .open(let name): finished = try scalar(name, try text(of: name))
      case .empty("true"): finished = .flag(true)
      case .empty("false"): finished = .flag(false)
      case .empty("dict"): finished = .dictionary([:])
      case .empty("array"): finished = .list([])
      case .empty("string"): finished = .text("")
      case .empty("data"): finished = .data(Data())
      case .empty, .close: throw fault("an element that property lists do not have")
      case .end: throw fault("the file ends in the middle")
      }
      guard let last = containers.indices.last else {
        guard try token() == .close("plist"), try token() == .end else { throw fault("something behind the value") }
        return finished
      }
      if !containers[last].isDictionary {
        containers[last].values.append(finished)
      } else if let key = containers[last].key {
        containers[last].members[key] = finished
        containers[last].key = nil
      } else {
        throw fault("a value without a key")
      }
    }
  }

  private func scalar(_ name: String, _ text: String) throws(PropertyListFault) -> PropertyListValue {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    switch name {
    case "string": return .text(text)
    case "true": return .flag(true)
    case "false": return .flag(false)
    case "integer":
      if let number = Int64(trimmed) { return .integer(number) }
      if let number = UInt64(trimmed) { return .unsigned(number) }
      let isHexadecimal = trimmed.lowercased().hasPrefix("0x")
      if isHexadecimal, let number = Int64(trimmed.dropFirst(2), radix: 16) { return .integer(number) }
    case "real": if let number = Double(trimmed) { return .real(number) }
    case "date": if let time = parseTimestamp(ContiguousArray(trimmed.utf8).span) { return .date(time.date) }
    case "data":
      let digits = text.utf8.filter { $0 > 0x20 }
      if let data = Data(base64Encoded: Data(digits)) { return .data(data) }
    default: throw fault("an element that property lists do not have")
    }
    throw fault("the text of an element \(name) is none of that type")
  }

  // MARK: Tokens

  private func starts(with text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

  /// Moves behind the next occurrence of a text.
  private mutating func pass(_ text: String) throws(PropertyListFault) {
    let wanted = Array(text.utf8)
    while position + wanted.count <= bytes.count {
      guard let next = bytes.firstIndex(of: wanted[0], in: position..<bytes.count) else { break }
      position = next
      if starts(with: text) {
        position += wanted.count
        return
      }
      position += 1
    }
    throw fault("the file ends in the middle")
  }

  /// The next tag, behind space, comments and declarations.
  private mutating func token() throws(PropertyListFault) -> Token {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF: position += 1
      case UInt8(ascii: "<"):
        if starts(with: "<?") {
          try pass("?>")
        } else if starts(with: "<!--") {
          try pass("-->")
        } else if starts(with: "<!DOCTYPE") {
          let start = position
          try pass(">")
          if bytes[start..<position].contains(UInt8(ascii: "[")) {
            throw fault("a DOCTYPE with declarations of its own")
          }
        } else {
          return try tag()
        }
      default: throw fault("text where an element is expected")
      }
    }
    return .end
  }

  private mutating func tag() throws(PropertyListFault) -> Token {
    let start = position + 1
    try pass(">")
    var content = String(decoding: bytes[start..<position - 1], as: UTF8.self)[...]
    let isClosing = content.first == "/"
    if isClosing { content.removeFirst() }
    isEmptyTag = content.last == "/"
    if isEmptyTag { content.removeLast() }
    lastName = String(content.prefix { !$0.isWhitespace })
    return isClosing ? .close(lastName) : isEmptyTag ? .empty(lastName) : .open(lastName)
  }

  /// The text of an element up to its end, which is passed.
  private mutating func text(of name: String) throws(PropertyListFault) -> String {
    var text: [UInt8] = []
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "<"):
        if starts(with: "<![CDATA[") {
          let start = position + 9
          try pass("]]>")
          text += bytes[start..<position - 3]
        } else if starts(with: "<!--") {
          try pass("-->")
        } else {
          guard try tag() == .close(name) else { throw fault("an element within the text of \(name)") }
          return String(decoding: text, as: UTF8.self)
        }
      case UInt8(ascii: "&"): text += try entity()
      default:
        text.append(bytes[position])
        position += 1
      }
    }
    throw fault("the file ends in the middle")
  }

  private mutating func entity() throws(PropertyListFault) -> [UInt8] {
    let start = position + 1
    guard let end = bytes.firstIndex(of: UInt8(ascii: ";"), in: start..<min(bytes.count, start + 12)) else {
      throw fault("an ampersand that is not written as one")
    }
    let name = String(decoding: bytes[start..<end], as: UTF8.self)
    let known = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
    var text = known[name]
    if name.hasPrefix("#") {
      let digits = name.dropFirst()
      let code = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
      text = code.flatMap { Unicode.Scalar($0) }.map { String($0) }
    }
    guard let text else { throw fault("an entity that property lists do not have") }
    position = end + 1
    return Array(text.utf8)
  }
}
