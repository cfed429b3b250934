import Esker

// The report as tables and as JSON.

extension BigReport {
  func write(to output: inout BufferedOutput) throws(ToolError) {
    var pairs = Pairs()
    pairs.add("entries", .count(entries))
    pairs.add("keys", .size(keyBytes))
    pairs.add("values", .size(valueBytes))
    try output.write(pairs.text(in: .output))
    try Table.write(
      "LARGEST",
      [.right("SIZE"), .right("VALUE"), .left("KEYSPACE"), .left("KEY")],
      to: &output,
      largest
    ) {
      [.size($0.bytes), .size($0.valueBytes), .text($0.keyspace), .bytes($0.key)]
    }
    if keyspaces.count > 1 {
      let columns: [Table.Column] = [.right("SIZE"), .right("KEYS"), .right("SHARE"), .left("KEYSPACE")]
      try Table.write("KEYSPACES", columns, to: &output, largestKeyspaces) { name, amount in
        [
          .size(amount.bytes), .count(amount.keys), .share(amount.bytes, of: keyBytes + valueBytes), .keyspace(name),
        ]
      }
    }
    let columns: [Table.Column] = [.right("SIZE"), .right("KEYS"), .right("SHARE"), .left("KEYSPACE"), .left("PREFIX")]
    try Table.write("PREFIXES OF KEYS", columns, to: &output, largestPrefixes) { figure in
      [
        .size(figure.amount.bytes), .count(figure.amount.keys), .share(figure.amount.bytes, of: keyBytes + valueBytes),
        .text(figure.name.keyspace), .text(figure.name.prefix),
      ]
    }
    if prefixes.others.keys > 0 {
      let others = "\(HumanUnits.entries(prefixes.others.keys)), \(HumanUnits.bytes(prefixes.others.bytes))"
      try output.write("and under prefixes too small and too many to be told apart: \(others)\n")
    }
    try Table.write(
      "VALUE SIZES",
      [.right("UP TO"), .right("VALUES"), .right("BYTES"), .right("SHARE")],
      to: &output,
      sizes.filled
    ) {
      [.size($0.upTo), .count($0.values), .size($0.bytes), .share($0.values, of: entries)]
    }
    try Table.write(
      "LIFETIMES LEFT",
      [.right("UP TO"), .right("VALUES"), .right("SHARE")],
      to: &output,
      lifetimes.filled
    ) {
      [Self.time($0.upTo), .count($0.values), .share($0.values, of: entries)]
    }
    if entries > 0 { try output.write("\(NumberText.count(lifetimes.never)) of the values do not expire\n") }
  }

  private static func time(_ seconds: Int64?) -> Cell {
    guard let seconds else { return .word("longer") }
    return Cell(shown: HumanUnits.duration(seconds: Double(seconds)), plain: "\(seconds)")
  }

  /// One object and a newline. Scripts rely on the names: add fields, but never rename or drop one.
  var json: [UInt8] {
    JSONWriter.line { writer in
      writer.fields(["entries": entries, "keyBytes": keyBytes, "valueBytes": valueBytes])
      writer.list("largest", largest) { writer, entry in
        writer.field("keyspace", entry.keyspace)
        writer.field("key", bytes: entry.key)
        writer.fields(["keyBytes": entry.keyBytes, "valueBytes": entry.valueBytes])
      }
      writer.list("keyspaces", largestKeyspaces) { writer, figure in
        writer.field("name", figure.name)
        writer.fields(["keys": figure.amount.keys, "bytes": figure.amount.bytes])
      }
      writer.list("prefixes", largestPrefixes) { writer, figure in
        writer.field("keyspace", figure.name.keyspace)
        writer.field("prefix", figure.name.prefix)
        writer.fields(["keys": figure.amount.keys, "bytes": figure.amount.bytes])
      }
      writer.object("otherPrefixes") { writer in
        writer.fields(["keys": prefixes.others.keys, "bytes": prefixes.others.bytes])
      }
      writer.list("valueSizes", sizes.filled) { writer, bucket in
        writer.fields(["upTo": bucket.upTo, "values": bucket.values, "bytes": bucket.bytes])
      }
      writer.list("lifetimes", lifetimes.filled) { writer, bucket in
        writer.field("upToSeconds", bucket.upTo.map { Int($0) })
        writer.field("values", bucket.values)
      }
      writer.field("neverExpire", lifetimes.never)
    }
  }
}
