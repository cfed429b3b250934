/// What survives a power failure of anything not synced.
public enum CrashPolicy: Sendable, CaseIterable {
  /// Nothing.
  case drop
  /// Everything.
  case keep
  /// Each dirty page survives, vanishes or is torn at 512 bytes, occasionally inside a sector; the length is anything
  /// between the durable and the current one; any subset of the changes to names survives.
  case tear
  /// Each dirty page survives whole or not at all, as if written in any order; any subset of the changes to names survives,
  /// each rename whole or not at all.
  case reorder
}

extension CrashPolicy {
  func keepsChange(using generator: inout SeededGenerator) -> Bool {
    switch self {
    case .drop: false
    case .keep: true
    case .tear, .reorder: Bool.random(using: &generator)
    }
  }

  func length(durable: Int, current: Int, using generator: inout SeededGenerator) -> Int {
    let unit: Int
    switch self {
    case .drop: return durable
    case .keep: return current
    case .tear: unit = PageImage.sectorSize
    case .reorder: unit = PageImage.pageSize
    }
    let (low, high) = (min(durable, current), max(durable, current))
    // Each end is as likely as everything in between.
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: return durable
    case 1: return current
    default: return max(low, Int.random(in: low...high, using: &generator) / unit * unit)
    }
  }

  func page(durable: [UInt8], current: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
    switch self {
    case .drop: return durable
    case .keep: return current
    case .reorder: return Bool.random(using: &generator) ? current : durable
    case .tear: break
    }
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: return durable
    case 1: return current
    default: return Self.tornPage(durable: durable, current: current, using: &generator)
    }
  }

  private static func tornPage(
    durable: [UInt8],
    current: [UInt8],
    using generator: inout SeededGenerator
  ) -> [UInt8] {
    var page = durable
    for start in stride(from: 0, to: PageImage.pageSize, by: PageImage.sectorSize) {
      var survives = start..<start
      if generator.oneIn(8) {
        let cut = start + Int.random(in: 0...PageImage.sectorSize, using: &generator)
        survives = Bool.random(using: &generator) ? start..<cut : cut..<start + PageImage.sectorSize
      } else if Bool.random(using: &generator) {
        survives = start..<start + PageImage.sectorSize
      }
      page.replaceSubrange(survives, with: current[survives])
    }
    return page
  }
}
