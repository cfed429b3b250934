import Esker
import EskerTools

/// A part of a segment's bytes in the picture.
enum MapPart: String, CaseIterable {
  case lasting, expiring, dead, unknown, other, free

  var words: String {
    switch self {
    case .lasting: "stays"
    case .expiring: "will expire"
    case .dead: "reclaimable by a merge"
    case .unknown: "unknown"
    case .other: "headers, footers, dictionaries"
    case .free: "free"
    }
  }
}

/// A segment in the picture.
struct MapSegment {
  let description: SegmentDescription
  let parts: [(part: MapPart, bytes: Int)]
  /// Seconds since it was created.
  let age: Double?
  /// What was replaced or removed of its records since then; nil if that is not known.
  let heat: SegmentHeat?

  /// - Parameter recordBytes: The bytes of records in an active segment, which cannot be read from the files.
  init(_ description: SegmentDescription, _ figures: Statistics.Usage.Figures?, recordBytes: Int?, now: Double) {
    self.description = description
    age = description.created.map { max(0, now - Double($0.millisecondsSince1970) / 1000) }
    let file = description.fileBytes ?? 0
    var parts: [(MapPart, Int)] = []
    var rest = file
    func take(_ part: MapPart, _ bytes: Int) {
      let bytes = min(rest, bytes)
      if bytes > 0 { parts.append((part, bytes)) }
      rest -= bytes
    }
    let records = description.recordBytes ?? recordBytes
    if let figures {
      take(.lasting, figures.lasting.bytes)
      take(.expiring, figures.expiring.bytes)
      take(.dead, figures.reclaimableBytes)
    } else {
      take(.unknown, records ?? file)
    }
    let used = parts.reduce(0) { $0 + $1.1 }
    let free = records.map { max(0, file - $0 - description.footerBytes - 160) } ?? 0
    take(.other, max(0, rest - free))
    take(.free, rest)
    let seconds = age ?? 0
    heat = figures.flatMap { figures in
      records.map { SegmentHeat(rewritten: figures.dead.bytes, of: $0, seconds: seconds) }
    }
    self.parts = used == 0 && file == 0 ? [] : parts
  }

  func bytes(_ part: MapPart) -> Int { parts.first { $0.part == part }?.bytes ?? 0 }

  /// The bytes saved by packing: the difference to the unpacked size of its records.
  var savedBytes: Int {
    guard let unpacked = description.unpackedBytes, let records = description.recordBytes else { return 0 }
    return max(0, unpacked - records)
  }

  /// A description of it, in lines.
  var details: [(title: String, value: String)] {
    var lines: [(String, String)] = []
    var kind = description.kind?.rawValue ?? "unknown"
    if description.isListed {
      kind += description.isSealed ? ", sealed" : ", being written"
    } else {
      kind += ", not listed"
    }
    lines.append(("kind", kind))
    if let age { lines.append(("age", HumanUnits.duration(seconds: age))) }
    lines.append(("file", description.fileBytes.map { HumanUnits.bytes($0) } ?? "missing"))
    for (part, bytes) in parts { lines.append((part.words, HumanUnits.bytes(bytes))) }
    if let unpacked = description.unpackedBytes, let records = description.recordBytes, records > 0 {
      let ratio = NumberText.fixed(Double(unpacked) / Double(records), 2)
      lines.append(("unpacked", "\(HumanUnits.bytes(unpacked)), ratio \(ratio)"))
    }
    if let heat { lines.append(("rewritten", heat.text)) }
    if let range = description.sequences { lines.append(("writes", "\(range.lowerBound) to \(range.upperBound)")) }
    if let range = description.expiries {
      lines.append(("expires", "\(Cell.instant(range.lowerBound).shown) to \(Cell.instant(range.upperBound).shown)"))
    }
    for damage in description.damage { lines.append(("damage", damage)) }
    return lines
  }
}
