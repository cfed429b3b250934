import EskerFormat
import EskerLog
import EskerTools

extension FuzzTarget {
  /// The frames of an export stream. What is encoded again is the same bytes.
  static let stream = FuzzTarget(
    name: "stream",
    longest: 1024,
    repair: { FileRepair.stream(&$0) },
    samples: { ["golden": bytes(hex: Golden.export)] },
    run: { input in
      guard let (header, checksum) = try? ExportHeader.decode(input.bytes) else { return }
      let again = header.encoded()
      require(again.checksum == checksum && input.prefix(ExportHeader.length).elementsEqual(again.bytes), "\(header)")
      Frames.examine(input, continuing: checksum)
    }
  )

  /// The import of a stream into a store. What came of it can be exported and imported again.
  static let importing = FuzzTarget(
    name: "import",
    longest: 1024,
    repair: { FileRepair.stream(&$0) },
    samples: { ["golden": bytes(hex: Golden.export), "store": try Sample.exportStream()] },
    run: { input in
      guard let (stored, contents) = Imports.contents(Array(input)) else { return }
      guard let (again, others) = Imports.contents(stored) else { fatalError("an exported stream is refused") }
      require(contents == others, "a store became another")
      require(stored.count == again.count, "a stream became another")
    }
  )
}

private enum Frames {
  static func examine(_ input: UnsafeRawBufferPointer, continuing first: UInt32) {
    var chain = first
    var offset = ExportHeader.length
    while offset < input.count {
      let rest = UnsafeRawBufferPointer(rebasing: input[offset...])
      guard let (frame, checksum) = try? ExportFrame.decode(rest.bytes, continuing: chain) else { return }
      let again = frame.encoded(continuing: chain)
      require(again.checksum == checksum && rest.prefix(ExportFrame.length).elementsEqual(again.bytes), "\(frame)")
      chain = checksum
      let value = ExportFrame.length + frame.keyLength
      let end = value + frame.valueLength
      guard end <= rest.count else { return }
      if frame.kind == .keyspace { forms(UnsafeRawBufferPointer(rebasing: rest[value..<end])) }
      offset += end + (frame.kind == .end ? 0 : ExportFrame.trailerLength)
    }
  }

  private static func forms(_ bytes: UnsafeRawBufferPointer) {
    guard let forms = try? KeyspaceForms(decoding: bytes.bytes) else { return }
    let again = requireAccepted("encoded forms") { try KeyspaceForms(decoding: forms.encoded().span.bytes) }
    require(again == forms, "\(forms) became \(again)")
  }
}

/// Stores that streams are imported into.
private enum Imports {
  /// The stream that a store exports into which another was imported, and what it holds; nil if that is refused.
  static func contents(_ stream: [UInt8]) -> (stream: [UInt8], contents: [String: [[UInt8]: [UInt8]]])? {
    let bench = Bench()
    do {
      let store = try bench.open()
      var rest = stream[...]
      do {
        try store.importStream { count in
          let piece = Array(rest.prefix(count))
          rest = rest.dropFirst(piece.count)
          return piece
        }
      } catch {
        try store.close()
        return nil
      }
      var exported: [UInt8] = []
      try store.exportStream { piece in piece.withUnsafeBytes { exported.append(contentsOf: $0) } }
      let contents = try Sample.contents(of: store)
      try store.close()
      return (exported, contents)
    } catch { fatalError("\(error)") }
  }
}
