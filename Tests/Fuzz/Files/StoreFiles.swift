/// The files of a store, as an input: for each a byte for its kind, one for its number, and a ``SparseFile``.
struct StoreFiles {
  enum Kind: UInt8, CaseIterable {
    case segment, firstManifest, secondManifest, checkpoint, statistics, lock

    func name(_ number: UInt8) -> String {
      switch self {
      case .segment: Self.hex(number) + ".segment"
      case .checkpoint: Self.hex(number) + ".checkpoint"
      case .firstManifest: "manifest.a"
      case .secondManifest: "manifest.b"
      case .statistics: "statistics"
      case .lock: "LOCK"
      }
    }

    private static func hex(_ number: UInt8) -> String {
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Puts right checksums on a file of this kind.
    func repair(_ bytes: inout [UInt8]) {
      switch self {
      case .segment: SegmentRepair.file(&bytes)
      case .firstManifest, .secondManifest: FileRepair.manifest(&bytes)
      case .checkpoint: FileRepair.checkpoint(&bytes)
      case .statistics: FileRepair.ending(at: 8192)(&bytes)
      case .lock: break
      }
    }
  }

  /// So many that each execution stays short.
  private static let most = 8

  var files: [(kind: Kind, number: UInt8, bytes: [UInt8])] = []

  /// By their names. Files of other names are left out.
  init(_ named: [String: [UInt8]]) {
    for (name, bytes) in named.sorted(by: { $0.key < $1.key }) {
      for kind in Kind.allCases {
        if let number = (0...UInt8.max).first(where: { kind.name($0) == name }) { files.append((kind, number, bytes)) }
      }
    }
  }

  init(decoding input: some Collection<UInt8>) {
    var rest = Array(input)[...]
    while files.count < Self.most, let kind = rest.popFirst(), let number = rest.popFirst() {
      let file = SparseFile(readingFrom: &rest)
      files.append((Kind.allCases[Int(kind) % Kind.allCases.count], number, file.bytes))
    }
  }

  func encoded() -> [UInt8] {
    files.flatMap { file in [file.kind.rawValue, file.number] + SparseFile(file.bytes).encoded() }
  }

  /// The same with right checksums.
  static func repair(_ input: inout [UInt8]) {
    var store = StoreFiles(decoding: input)
    for index in store.files.indices { store.files[index].kind.repair(&store.files[index].bytes) }
    input = store.encoded()
  }
}
