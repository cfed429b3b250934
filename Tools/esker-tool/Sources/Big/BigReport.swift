import Esker

/// What the entries of a store take, in constant memory.
struct BigReport {
  struct Large {
    let keyspace: String
    /// As it is printed.
    let key: [UInt8]
    let keyBytes: Int
    let valueBytes: Int

    var bytes: Int { keyBytes + valueBytes }
  }

  private let top: Int
  private let separators: Set<Unicode.Scalar>
  private let depth: Int

  private(set) var entries = 0
  private(set) var keyBytes = 0
  private(set) var valueBytes = 0
  /// Largest first.
  private(set) var largest: [Large] = []
  private(set) var prefixes = PrefixSizes()
  private(set) var keyspaces: [String: PrefixSizes.Amount] = [:]
  private(set) var sizes = SizeHistogram()
  private(set) var lifetimes = LifetimeHistogram()

  init(top: Int, separators: Set<Unicode.Scalar>, depth: Int) {
    self.top = top
    self.separators = separators
    self.depth = depth
  }

  mutating func add(_ entry: borrowing Snapshot.Entry, key: [UInt8], _ form: StoredForm, at now: WallTime) {
    let length = entry.valueLength
    entries += 1
    keyBytes += key.count
    valueBytes += length
    keyspaces[entry.keyspace, default: PrefixSizes.Amount()].keys += 1
    keyspaces[entry.keyspace, default: PrefixSizes.Amount()].bytes += key.count + length
    sizes.add(length)
    lifetimes.add(entry.expiry, at: now)
    let printed = form.isTranslated ? form.text(of: key).map { Array($0.utf8) } ?? key : key
    if let prefix = prefix(of: printed) { prefixes.add(key.count + length, to: prefix, in: entry.keyspace) }
    guard largest.count < top || key.count + length > largest[largest.count - 1].bytes else { return }
    let large = Large(keyspace: entry.keyspace, key: printed, keyBytes: key.count, valueBytes: length)
    largest.insert(large, at: largest.firstIndex { $0.bytes < large.bytes } ?? largest.count)
    if largest.count > top { largest.removeLast() }
  }

  /// The keyspaces that take most, largest first.
  var largestKeyspaces: [(name: String, amount: PrefixSizes.Amount)] {
    let sorted = keyspaces.sorted { ($0.value.bytes, $1.key) > ($1.value.bytes, $0.key) }
    return sorted.prefix(top).map { ($0.key, $0.value) }
  }

  /// The prefixes that take most, largest first.
  var largestPrefixes: [PrefixSizes.Figure] { Array(prefixes.sorted.prefix(top)) }

  /// The key up to its separators; nil if there are too few.
  private func prefix(of key: [UInt8]) -> String? {
    guard let text = String(validating: key, as: UTF8.self) else { return nil }
    var left = depth
    for index in text.unicodeScalars.indices where separators.contains(text.unicodeScalars[index]) {
      left -= 1
      if left == 0 { return String(text.unicodeScalars[...index]) }
    }
    return nil
  }
}
