#if Redis
  /// A reply of a server, in RESP3. Sets are arrays, and a map is an array of its keys and values in turn.
  enum RESPValue: Hashable, Sendable {
    case null
    case bytes([UInt8])
    case integer(Int64)
    case double(Double)
    case boolean(Bool)
    case error(ServerError)
    case array([RESPValue])
    case map([RESPValue])
    case push([RESPValue])
  }

  extension RESPValue {
    /// The text of a string, whatever its kind.
    var text: String? {
      guard case .bytes(let bytes) = self else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    }

    var isNull: Bool {
      if case .null = self { true } else { false }
    }

    var integer: Int64? {
      guard case .integer(let number) = self else { return nil }
      return number
    }

    var error: ServerError? {
      guard case .error(let error) = self else { return nil }
      return error
    }

    /// The elements of an array, or of a map in turn.
    var elements: [RESPValue]? {
      switch self {
      case .array(let elements), .map(let elements), .push(let elements): elements
      default: nil
      }
    }

    /// The value of a map under a key.
    subscript(_ key: String) -> RESPValue? {
      guard let elements else { return nil }
      let name = RESPValue.bytes(Array(key.utf8))
      for index in stride(from: 0, to: elements.count - 1, by: 2) where elements[index] == name {
        return elements[index + 1]
      }
      return nil
    }
  }

  /// An error that a server answered: its code, such as `WRONGTYPE`, and the text behind it.
  struct ServerError: Error, Hashable, Sendable {
    let code: String
    let message: String

    init(_ line: String) {
      guard let space = line.firstIndex(of: " ") else {
        code = line
        message = ""
        return
      }
      code = String(line[..<space])
      message = String(line[line.index(after: space)...])
    }
  }

  /// Bytes that are not RESP3, or that no server of good will sends.
  enum WireError: Error, Hashable, Sendable {
    case malformed(String)
    case tooDeep
    /// Over what is read through to its end.
    case tooLong(Int)
  }
#endif
