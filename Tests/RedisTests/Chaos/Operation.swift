/// What a process of `History` has noted of one of its operations. Times are microseconds since 1970.
struct Operation: CustomStringConvertible {
  enum Kind: Equatable {
    /// What it has read; nil: nothing.
    case read(String?, tier: Character)
    /// A write, or with nil a removal, which was acknowledged.
    case done(String?)
    /// One of which nobody knows.
    case unknown(String?)
    /// One that was not made, and never will be.
    case failed(String?)
  }

  var key: String
  var invoked: Int
  var returned: Int
  var kind: Kind

  var description: String { "\(invoked)-\(returned) \(key) \(kind)" }
}

/// What one process did, from its start to its end.
struct ProcessHistory {
  var name: String
  var operations: [String: [Operation]] = [:]
  var count = 0
  var failures = 0
  /// Keys of which it was told that a write was lost, and when.
  var rollbacks: [(key: String, time: Int)] = []

  /// `R key invoked returned token tier`, `W key invoked returned token outcome`, `F key invoked returned`, `B key time`
  init(name: String, _ journal: [UInt8]) {
    self.name = name
    var tokens: [String: String] = [:]
    for line in journal.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      // The last line of one that was killed may be cut.
      switch words.first {
      case "B" where words.count == 3: rollbacks.append((words[1], Int(words[2]) ?? 0))
      case "F" where words.count == 4: failures += 1
      case "R" where words.count == 6, "W" where words.count == 6:
        guard let invoked = Int(words[2]), let returned = Int(words[3]) else { continue }
        var token: String?
        if words[4] != "-" {
          token = tokens[words[4]] ?? words[4]
          tokens[words[4]] = token
        }
        let kind: Operation.Kind
        switch (words[0], words[5]) {
        case ("R", let tier): kind = .read(token, tier: tier.first ?? "-")
        case (_, "ok"): kind = .done(token)
        case (_, "unknown"): kind = .unknown(token)
        default: kind = .failed(token)
        }
        operations[words[1], default: []].append(
          Operation(key: words[1], invoked: invoked, returned: returned, kind: kind)
        )
        count += 1
      default: continue
      }
    }
  }
}
