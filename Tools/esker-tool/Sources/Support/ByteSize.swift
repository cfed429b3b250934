import ArgumentParser

/// A number of bytes on the command line: `4096`, `64kB`, `100MB`, `1GiB`.
struct ByteSize: ExpressibleByArgument, Hashable {
  let bytes: Int

  init(bytes: Int) {
    self.bytes = bytes
  }

  /// Nil for anything else, and on overflow.
  init?(argument: String) {
    let digits = argument.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int(digits) else { return nil }
    let units = [
      "": 1, "B": 1, "kB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
    ]
    guard let unit = units[String(argument.dropFirst(digits.count))] else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    self.bytes = bytes
  }

  var defaultValueDescription: String {
    bytes.isMultiple(of: 1 << 20) && bytes > 0 ? "\(bytes >> 20)MiB" : "\(bytes)"
  }

  static let help = "as in 4096, 64kB or 1GiB"
}
