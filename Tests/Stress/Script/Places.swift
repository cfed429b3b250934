/// A key's text: the letter of its band, the thread, a dot, and its index.
struct Places: Sendable {
  let layouts: [Layout]

  init(_ configuration: Configuration) {
    layouts = (0..<configuration.threads).map { Layout(configuration, thread: $0) }
  }

  /// The key of a place. Of the two places of a swap, both have the same key, in two keyspaces.
  func key(_ place: Int, thread: Int) -> [UInt8] {
    let (band, index) = layouts[thread].find(place)
    let number = band == .swap ? index / 2 : index
    return [band.letter] + "\(thread).\(number)".utf8
  }

  /// The keyspace of a place; empty for the default one.
  func keyspace(_ place: Int, thread: Int) -> String {
    let (band, index) = layouts[thread].find(place)
    return switch band {
    case .swap: index % 2 == 0 ? "" : Self.other
    case .reset: Self.emptied(thread)
    default: ""
    }
  }

  /// The keyspace that swaps go to.
  static let other = "other"
  /// The keyspace that a thread empties.
  static func emptied(_ thread: Int) -> String { "emptied \(thread)" }

  /// Where a value with that key stands; nil for a key that nobody has written.
  func find(_ key: UnsafeRawBufferPointer, in keyspace: String) -> (thread: Int, place: Int)? {
    guard key.count > 3, key[2] == UInt8(ascii: "."), let band = Band.allCases.first(where: { $0.letter == key[0] })
    else { return nil }
    let thread = Int(key[1]) - 48
    var index = 0
    for digit in key[3...] {
      guard (48...57).contains(digit), index < 1 << 40 else { return nil }
      index = index * 10 + Int(digit) - 48
    }
    guard layouts.indices.contains(thread) else { return nil }
    let layout = layouts[thread]
    if band == .swap { index = index * 2 + (keyspace == Self.other ? 1 : 0) }
    guard index < layout.count(band) * layout.width(band) else { return nil }
    let place = layout.start(band) + index
    return self.keyspace(place, thread: thread) == keyspace ? (thread, place) : nil
  }
}
