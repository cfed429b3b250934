import ArgumentParser

/// A number of bytes on the command line: `4096`, `64kB`, `100MB`, `1GiB`.
struct ByteSize: ExpressibleByArgument, Hashable {
  let bytes: Int

  init(bytes: Int) {
    self.bytes = bytes
  }

  /// Nil for anything else, and on overflow.
  init?(argument: String) {
    let units = [
      "": 1, "B": 1, "kB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
    ]
    guard let bytes = quantity(argument, units) else { return nil }
    self.bytes = bytes
  }

  var defaultValueDescription: String {
    bytes.isMultiple(of: 1 << 20) && bytes > 0 ? "\(bytes >> 20)MiB" : "\(bytes)"
  }

  static let help = "as in 4096, 64kB or 1GiB"
}

/// A whole number and a unit behind it, as the product of both; nil for anything else, and on overflow.
func quantity(_ text: String, _ units: [String: Int]) -> Int? {
  let digits = text.prefix { $0.isASCII && $0.isNumber }
  guard let count = Int(digits), let unit = units[String(text.dropFirst(digits.count))] else { return nil }
  let (product, overflow) = count.multipliedReportingOverflow(by: unit)
  return overflow ? nil : product
}
