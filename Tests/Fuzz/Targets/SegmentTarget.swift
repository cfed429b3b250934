import EskerFormat

extension FuzzTarget {
  /// A whole segment file: header, dictionary, records, footer.
  static let segment = FuzzTarget(
    name: "segment",
    repair: { SegmentRepair.file(&$0) },
    samples: { ["golden": bytes(hex: Golden.segment), "packed": try Sample.packedSegment().bytes] },
    run: { input in
      let header = try? SegmentHeader(decoding: input.bytes)
      if let header {
        let again = requireAccepted("an encoded header") { try SegmentHeader(decoding: header.encoded().span.bytes) }
        require(again == header, "\(header) became \(again)")
      }
      let layout = header?.layout ?? .plain
      let salt = header?.salt ?? Sample.salt
      if layout.isPacked {
        PackedExamination.examine(input, salt: salt, dictionaryLength: layout.dictionaryLength)
      } else {
        LogRecords.examine(input, salt: salt)
      }
      let tail = UnsafeRawBufferPointer(rebasing: input.suffix(SegmentFooter.trailerLength))
      guard tail.count == SegmentFooter.trailerLength,
        let footer = try? SegmentFooter(decodingTrailer: tail.bytes),
        footer.length <= input.count
      else { return }
      let bytes = UnsafeRawBufferPointer(rebasing: input.suffix(footer.length))
      if let whole = try? SegmentFooter(decoding: bytes.bytes) { Footers.read(whole, layout, bytes) }
    }
  )
}

/// The records of a log.
enum LogRecords {
  /// Reads whatever may be a record. One that is intact is the same when it is written again.
  static func examine(_ input: UnsafeRawBufferPointer, salt: UInt32) {
    guard let base = input.baseAddress else { return }
    var offset = SegmentHeader.length
    while offset + 8 <= input.count {
      let (place, limit, units) = (base + offset, input.count - offset, UInt32(offset >> 3))
      let view = RecordView(at: place, limit: limit)
      let damage = view?.damage(salt: salt, offsetUnits: units)
      _ = view?.fields
      guard case .record(let header) = RecordHeader.read(at: place, limit: limit, salt: salt, offsetUnits: units) else {
        require(view == nil || damage != nil || offset + 32 > input.count, "a record is intact and cannot be read")
        offset += 8
        continue
      }
      require(header.size >= 32 && header.size % 8 == 0 && header.size <= limit, "a record is longer than its room")
      if let view, damage == nil { rewrite(header, view, salt, units) }
      offset += header.size
    }
  }

  private static func rewrite(_ header: RecordHeader, _ view: RecordView, _ salt: UInt32, _ units: UInt32) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: header.size, alignment: 16)
    defer { copy.deallocate() }
    guard let place = copy.baseAddress else { return }
    let body = RecordEncoder.bodyChecksum(key: view.key, value: view.value)
    let word = RecordEncoder.write(
      header,
      key: view.key,
      value: view.value,
      bodyChecksum: body,
      salt: salt,
      offsetUnits: units,
      to: place
    )
    RecordEncoder.publish(word, at: place)
    let read = RecordHeader.read(at: place, limit: copy.count, salt: salt, offsetUnits: units)
    guard case .record(let again) = read, let other = RecordView(at: place, limit: copy.count) else {
      fatalError("a record that was just written cannot be read")
    }
    require(again == header, "\(header) became \(again)")
    require(other.damage(salt: salt, offsetUnits: units) == nil, "a record that was just written is damaged")
    require(other.key.elementsEqual(view.key) && other.value.elementsEqual(view.value), "a record has others' bytes")
  }
}
