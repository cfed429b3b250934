/// A type of values in RDB files, by its number there: what it is, and what has to be passed to come behind it.
struct RDBKind: Equatable {
  /// What the file has of such a value.
  enum Parts: Equatable {
    /// So many strings.
    case strings(Int)
    /// A length, and as many times these.
    case repeated([Part])
    case stream(version: Int)
    case module
    /// An instant, and then these.
    case expiring(Part)
    /// An instant, a length, and as many times the rest of a field.
    case expiringFields
  }

  enum Part: Equatable {
    case string, length
    /// A number as text, or as 8 bytes.
    case score, double
  }

  /// What is counted if it is not loaded.
  let name: String
  let parts: Parts
  /// What it becomes; nil for a string, and for what is not loaded.
  let shape: RDBCollection.Shape?
  /// How several elements are in one string; nil if each has its own.
  let packing: RDBPacking?

  static let string = RDBKind("string key", .strings(1))

  private init(_ name: String, _ parts: Parts, _ shape: RDBCollection.Shape? = nil, _ packing: RDBPacking? = nil) {
    (self.name, self.parts, self.shape, self.packing) = (name, parts, shape, packing)
  }

  /// The type with a number; nil if none is known.
  static func of(_ number: UInt8) -> RDBKind? {
    switch number {
    case 0: string
    case 1: RDBKind("list key", .repeated([.string]), .list)
    case 2: RDBKind("set key", .repeated([.string]), .list)
    case 3: RDBKind("sorted set key", .repeated([.string, .score]), .sortedSet)
    case 4: RDBKind("hash key", .repeated([.string, .string]), .hash)
    case 5: RDBKind("sorted set key", .repeated([.string, .double]), .sortedSet)
    case 7: RDBKind("module key", .module)
    case 9: RDBKind("zipmap hash key", .strings(1))
    case 10: RDBKind("list key", .strings(1), .list, .ziplist)
    case 11: RDBKind("set key", .strings(1), .list, .intset)
    case 12: RDBKind("sorted set key", .strings(1), .sortedSet, .ziplist)
    case 13: RDBKind("hash key", .strings(1), .hash, .ziplist)
    case 14: RDBKind("list key", .repeated([.string]), .list, .ziplist)
    case 15: RDBKind("stream key", .stream(version: 1))
    case 16: RDBKind("hash key", .strings(1), .hash, .listpack)
    case 17: RDBKind("sorted set key", .strings(1), .sortedSet, .listpack)
    case 18: RDBKind("list key", .repeated([.length, .string]), .list, .listpack)
    case 19: RDBKind("stream key", .stream(version: 2))
    case 20: RDBKind("set key", .strings(1), .list, .listpack)
    case 21: RDBKind("stream key", .stream(version: 3))
    case 24: RDBKind("expiring-field hash key", .expiringFields)
    case 25: RDBKind("expiring-field hash key", .expiring(.string))
    default: nil
    }
  }
}

extension RDBReader {
  /// Passes a value of a type.
  mutating func skip(_ kind: RDBKind, _ reader: inout LineReader) throws(ToolError) {
    switch kind.parts {
    case .strings(let count): for _ in 0..<count { try skipString(&reader) }
    case .repeated(let parts): try repeated(parts, &reader)
    case .stream(let version): try skipStream(version: version, &reader)
    case .module:
      _ = try count(&reader)
      try skipModuleValue(&reader)
    case .expiring(let part):
      try skip(8, &reader)
      try skip(part, &reader)
    case .expiringFields:
      try skip(8, &reader)
      try repeated([.length, .string, .string], &reader)
    }
  }

  private mutating func repeated(_ parts: [RDBKind.Part], _ reader: inout LineReader) throws(ToolError) {
    var left = try count(&reader)
    while left > 0 {
      for part in parts { try skip(part, &reader) }
      left -= 1
    }
  }

  private mutating func skip(_ part: RDBKind.Part, _ reader: inout LineReader) throws(ToolError) {
    switch part {
    case .string: try skipString(&reader)
    case .length: _ = try count(&reader)
    case .double: try skip(8, &reader)
    case .score:
      // The greatest lengths stand for what is no number, and for the infinities.
      let length = try byte(&reader)
      if length < 253 { try skip(Int(length), &reader) }
    }
  }

  private mutating func skipLengths(_ number: Int, _ reader: inout LineReader) throws(ToolError) {
    for _ in 0..<number { _ = try count(&reader) }
  }

  /// Entries, then what is known of them, then groups with what was delivered and to whom.
  private mutating func skipStream(version: Int, _ reader: inout LineReader) throws(ToolError) {
    try repeated([.string, .string], &reader)
    try skipLengths(version >= 2 ? 8 : 3, &reader)
    var groups = try count(&reader)
    while groups > 0 {
      try skipString(&reader)
      try skipLengths(version >= 2 ? 3 : 2, &reader)
      var pending = try count(&reader)
      while pending > 0 {
        try skip(24, &reader)
        try skipLengths(1, &reader)
        pending -= 1
      }
      var consumers = try count(&reader)
      while consumers > 0 {
        try skipString(&reader)
        try skip(version >= 3 ? 16 : 8, &reader)
        var owned = try count(&reader)
        while owned > 0 {
          try skip(16, &reader)
          owned -= 1
        }
        consumers -= 1
      }
      groups -= 1
    }
  }

  /// What a module has written says of each part what it is.
  mutating func skipModuleValue(_ reader: inout LineReader) throws(ToolError) {
    while true {
      switch try count(&reader) {
      case 0: return
      case 1, 2: try skipLengths(1, &reader)
      case 3: try skip(4, &reader)
      case 4: try skip(8, &reader)
      case 5: try skipString(&reader)
      case let other: throw fault("part \(other) of a module's value is not known", reader)
      }
    }
  }
}
