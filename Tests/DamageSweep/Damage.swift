import EskerTestSupport

/// A way to damage a store's files.
enum DamageKind: String, CaseIterable, Sendable {
  case cut, flippedBit, zeroPage, swappedBlocks, blockOfAnotherFile, duplicatedBlock, missing, olderVersion, foreignFile
  case extended
}

/// One file of a store, damaged in one way.
struct Damage {
  let kind: DamageKind
  let name: String
  /// What was done, in words.
  private(set) var details = ""
  private(set) var image: FileImage

  private static let blockLength = 4096

  /// Damages a file; nil when there is nothing to damage in this way.
  init?(
    _ kind: DamageKind,
    of sample: SampleStore,
    _ foreign: FileImage,
    using generator: inout SeededGenerator
  ) {
    self.kind = kind
    image = sample.image
    // What a lock file says is no part of the store.
    let names = image.names.filter { $0 != "LOCK" && $0 != "reserve" }
    guard let name = names.randomElement(using: &generator), let bytes = image.files[name], !bytes.isEmpty else {
      return nil
    }
    self.name = name
    let before = image.files[name]
    apply(to: bytes, sample, foreign, using: &generator)
    guard image.files[name] != before else { return nil }
  }

  /// One file cut to a length.
  init(cutting name: String, to length: Int, of sample: SampleStore) {
    kind = .cut
    self.name = name
    image = sample.image
    image.files[name]?.removeSubrange(length...)
    details = "to \(length) bytes"
  }

  private mutating func apply(
    to bytes: [UInt8],
    _ sample: SampleStore,
    _ foreign: FileImage,
    using generator: inout SeededGenerator
  ) {
    // Most of a file's end holds nothing.
    let used = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
    let blocks = (used + Self.blockLength - 1) / Self.blockLength
    func block(_ number: Int) -> Range<Int> {
      number * Self.blockLength..<min(bytes.count, (number + 1) * Self.blockLength)
    }
    let (first, second) = (Int.random(in: 0..<blocks, using: &generator), Int.random(in: 0..<blocks, using: &generator))
    switch kind {
    case .cut:
      let limit = generator.oneIn(3) ? bytes.count : used
      let length = Int.random(in: 0..<limit, using: &generator)
      image.files[name] = Array(bytes.prefix(length))
      details = "from \(bytes.count) to \(length) bytes"
    case .flippedBit:
      let (offset, bit) = (Int.random(in: 0..<used, using: &generator), Int.random(in: 0..<8, using: &generator))
      image.files[name]?[offset] ^= 1 << UInt8(bit)
      details = "at \(offset), bit \(bit)"
    case .zeroPage:
      for offset in block(first) { image.files[name]?[offset] = 0 }
      details = "at \(block(first).lowerBound)"
    case .swappedBlocks:
      let (a, b) = (Array(bytes[block(first)]), Array(bytes[block(second)]))
      let count = min(a.count, b.count)
      image.files[name]?.replaceSubrange(block(first).prefix(count), with: b.prefix(count))
      image.files[name]?.replaceSubrange(block(second).prefix(count), with: a.prefix(count))
      details = "at \(block(first).lowerBound) and \(block(second).lowerBound)"
    case .blockOfAnotherFile:
      guard let other = image.names.filter({ $0 != name }).randomElement(using: &generator) else { return }
      let source = image.files[other] ?? []
      let start = Int.random(in: 0...source.count / Self.blockLength, using: &generator) * Self.blockLength
      let part = source.dropFirst(start).prefix(block(first).count)
      image.files[name]?.replaceSubrange(block(first).prefix(part.count), with: part)
      details = "at \(block(first).lowerBound), that of \(other) at \(start)"
    case .duplicatedBlock:
      let part = bytes[block(first)]
      image.files[name]?.insert(contentsOf: part, at: part.endIndex)
      details = "at \(part.startIndex), what follows moves up"
    case .missing:
      image.files[name] = nil
    case .olderVersion:
      let version = sample.older.compactMap { $0.files[name] }.randomElement(using: &generator)
      image.files[name] = version ?? bytes
    case .foreignFile:
      let suffix = name.split(separator: ".").last ?? ""
      let other = foreign.names.filter { $0.hasSuffix(suffix) }.randomElement(using: &generator)
      image.files[name] = other.flatMap { foreign.files[$0] } ?? bytes
    case .extended:
      let count = Int.random(in: 1...20_000, using: &generator)
      let tail = generator.oneIn(2) ? generator.bytes(count) : Array(bytes.suffix(count))
      image.files[name] = bytes + tail
      details = "by \(tail.count) bytes"
    }
  }
}

extension Damage: CustomStringConvertible {
  var description: String { "\(kind.rawValue) \(name) \(details)" }
}
