#if Redis
  /// Where a server can be reached.
  struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
    var host: String
    var port: Int

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    init(host: String, port: Int) {
      self.host = host
      self.port = port
    }

    /// From `host:port`, where the host may be of IPv6 without brackets.
    init?(_ text: some StringProtocol) {
      guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
        (0...65535).contains(port)
      else { return nil }
      host = String(text[..<colon])
      self.port = port
    }
  }

  /// A line of CLUSTER NODES.
  struct ClusterNode: Hashable, Sendable {
    var id: String
    var address: RedisAddress?
    var flags: Set<String>
    /// Of a replica, the node that it copies.
    var primary: String?
    var epoch: UInt64
    var slots: [ClosedRange<UInt16>]
    /// Known only of the node that was asked.
    var moving: Set<UInt16>

    var isMyself: Bool { flags.contains("myself") }
    var isPrimary: Bool { flags.contains("master") && !flags.contains("handshake") && !flags.contains("noaddr") }
    var isReplica: Bool { flags.contains("slave") }
    /// A majority holds that it has failed.
    var hasFailed: Bool { flags.contains("fail") }
  }

  extension ClusterNode {
    /// The nodes of a reply; nil if it is not one of CLUSTER NODES. `asked` stands for an address that the node itself does not know.
    static func parse(_ text: String, asked: RedisAddress) -> [ClusterNode]? {
      var nodes: [ClusterNode] = []
      for line in text.split(whereSeparator: \.isNewline) {
        guard let node = ClusterNode(line, asked: asked) else { return nil }
        nodes.append(node)
      }
      return nodes.filter(\.isMyself).count == 1 ? nodes : nil
    }

    private init?(_ line: Substring, asked: RedisAddress) {
      let words = line.split(separator: " ")
      guard words.count >= 8, let epoch = UInt64(words[6]) else { return nil }
      id = String(words[0])
      flags = Set(words[2].split(separator: ",").map(String.init))
      primary = words[3] == "-" ? nil : String(words[3])
      self.epoch = epoch
      address = Self.address(words[1], asked: asked, isMyself: flags.contains("myself"))
      slots = []
      moving = []
      for word in words.dropFirst(8) {
        if word.hasPrefix("[") {
          guard let slot = UInt16(word.dropFirst().prefix { $0.isNumber }), slot < HashSlot.count else { return nil }
          moving.insert(slot)
          continue
        }
        let ends = word.split(separator: "-").map { UInt16($0) }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last,
          last < HashSlot.count
        else { return nil }
        slots.append(first...last)
      }
    }

    /// `ip:port@bus,hostname,...`.
    private static func address(_ word: Substring, asked: RedisAddress, isMyself: Bool) -> RedisAddress? {
      let parts = word.split(separator: ",", omittingEmptySubsequences: false)
      guard let ends = parts.first, let address = RedisAddress(ends.prefix { $0 != "@" }), address.port > 0 else {
        return nil
      }
      if !address.host.isEmpty { return address }
      if parts.count > 1, !parts[1].isEmpty, !parts[1].contains("=") {
        return RedisAddress(host: String(parts[1]), port: address.port)
      }
      return RedisAddress(host: asked.host, port: isMyself ? asked.port : address.port)
    }
  }
#endif
