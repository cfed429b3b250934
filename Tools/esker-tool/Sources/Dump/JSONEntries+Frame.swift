import Esker

extension JSONEntries {
  /// What stands around the key and the value of each entry of a keyspace where both are written as they are, if they are text.
  ///
  /// Such an entry goes straight into the output, and no memory is allocated for it.
  struct Frame {
    private let start: [UInt8]
    private let middle: [UInt8]
    private let end: [UInt8]

    private static let never = Array("null}\n".utf8)

    /// - Parameter keyspace: The name to write; none if it is empty.
    init(of keyspace: String, _ forms: EntryForms.Pair) {
      var writer = JSONWriter()
      writer.beginObject()
      if !keyspace.isEmpty { writer.field("keyspace", keyspace) }
      writer.name("key")
      start = writer.bytes
      // In the place of the key: nothing, but what follows is separated from it.
      writer.literal("")
      if let name = forms.keyName { writer.field("keyForm", name) }
      writer.name("value")
      let beforeValue = writer.bytes.count
      middle = Array(writer.bytes[start.count...])
      writer.literal("")
      if let name = forms.valueName { writer.field("valueForm", name) }
      writer.name("expires")
      end = Array(writer.bytes[beforeValue...])
    }

    /// Writes an entry; false, with nothing written, if the key or the value is not text, or is long.
    func write(_ entry: borrowing Snapshot.Entry, to output: inout BufferedOutput) throws -> Bool {
      var last = Self.never
      if case .at(let time) = entry.expiry { last = Array("\"\(time)\"}\n".utf8) }
      let room =
        start.count + OutputBuffer.room(quoting: entry.keyLength) + middle.count
        + OutputBuffer.room(quoting: entry.valueLength) + end.count + last.count
      guard try output.makeRoom(room) else { return false }
      let start = output.buffer.count
      var isWritten = false
      defer { if !isWritten { output.buffer.remove(behind: start) } }
      isWritten = try entry.withBytes { (key, value) throws(StoreError) in add(key, value, last, to: &output.buffer) }
      return isWritten
    }

    private func add(_ key: RawSpan, _ value: RawSpan, _ last: [UInt8], to output: inout OutputBuffer) -> Bool {
      output.append(start)
      guard output.append(quoting: key) else { return false }
      output.append(middle)
      guard output.append(quoting: value) else { return false }
      output.append(end)
      output.append(last)
      return true
    }
  }
}
