import ArgumentParser

/// Where to listen: a port, or a host and a port, as in `9100`, `0.0.0.0:9100` or `[::1]:9100`.
struct MetricsAddress: ExpressibleByArgument, Equatable {
  let host: String
  let port: Int

  init?(argument: String) {
    var host = argument.prefix { _ in false }
    var port = argument[...]
    if let colon = argument.lastIndex(of: ":") {
      host = argument[..<colon]
      port = argument[argument.index(after: colon)...]
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      // An address of IPv6 whose last part could be the port.
      return nil
    }
    guard !port.isEmpty, port.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(port) else { return nil }
    self.host = host.isEmpty ? "127.0.0.1" : String(host)
    self.port = Int(port)
  }

  init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// As in a URL.
  var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
