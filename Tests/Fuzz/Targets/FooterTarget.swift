import EskerFormat

extension FuzzTarget {
  /// A segment's footer, as that of a log and as that of a packed segment.
  static let footer = FuzzTarget(
    name: "footer",
    longest: 1024,
    repair: { SegmentRepair.footer(&$0) },
    samples: {
      let packed = try Sample.packedSegment()
      return ["log": Sample.footer, "packed": Array(packed.bytes[packed.recordsEnd...])]
    },
    run: { input in
      guard let footer = try? SegmentFooter(decoding: input.bytes) else { return }
      for layout in [SegmentLayout.plain, .packed(dictionaryLength: 0), .packed(dictionaryLength: 512)] {
        Footers.read(footer, layout, input)
      }
    }
  )
}

/// What footers say.
enum Footers {
  /// Reads the entries one by one and in blocks, which must come to the same.
  static func read(_ footer: SegmentFooter, _ layout: SegmentLayout, _ bytes: UnsafeRawBufferPointer) {
    let single = try? entries(of: footer, layout) { cursor, entries in
      guard let entry = try cursor.next(in: bytes.bytes) else { return false }
      entries.append(entry)
      return true
    }
    let blocks = try? entries(of: footer, layout) { cursor, entries in
      var block: [FooterEntry] = []
      try cursor.next(into: &block, from: bytes.bytes)
      entries += block
      return !block.isEmpty
    }
    require(single == blocks, "a footer reads in two ways")
    guard let entries = single else { return }
    require(entries.count == footer.entryCount, "there are not as many entries as there should be")
    var end = UInt64(layout.recordsStart)
    for entry in entries {
      require(entry.offset >= end, "an entry begins in another")
      end = (layout.isPacked ? entry.offset & ~8 : entry.offset) + entry.size
      require(end <= footer.recordsEnd, "an entry ends behind the records")
      require(footer.numbers?.contains(entry.sequence) ?? (entry.sequence == 0), "an entry's number is not in range")
    }
  }

  /// Reads by a step that says whether there may be more.
  private static func entries(
    of footer: SegmentFooter,
    _ layout: SegmentLayout,
    by step: (inout FooterCursor, inout [FooterEntry]) throws -> Bool
  ) rethrows -> [FooterEntry] {
    var cursor = footer.entries(layout)
    var entries: [FooterEntry] = []
    while try step(&cursor, &entries) {}
    return entries
  }
}
