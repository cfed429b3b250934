extension PackedSegmentView {
  /// The place and the fields of the record at an offset: of the record itself, or of its whole cell. Nothing is verified;
  /// nil if the bytes there make no sense.
  public func fields(at offset: Int) -> (range: Range<Int>, fields: [NamedField])? {
    guard let entry = entry(at: offset) else { return nil }
    guard PackedLayout.isInCell(offset) else { return (offset..<offset + entry.size, fields(of: entry)) }
    guard let cell = cell(at: entry.headOffset) else { return nil }
    return (cell.start..<cell.start + PackedLayout.cellLength, cell.fields(naming: entry))
  }

  private func fields(of entry: PackedEntry) -> [NamedField] {
    var list = FieldList()
    let flags = RecordFlags(rawValue: u8(entry.offset + 15) >> 4)
    list.add("header checksum", 4, .hash(UInt64(entry.headChecksum)))
    list.add("value checksum", 4, .hash(UInt64(entry.plainChecksum)))
    list.add("sequence", 7, .number(entry.sequence))
    list.add("kind and flags", 1, .word(entry.kind.words(flags)))
    list.add("key length", 2, .number(UInt64(entry.keyLength)))
    if entry.isCompressed {
      list.add("stored length", 3, .number(UInt64(entry.stored.count)))
      list.add("value length", 3, .number(UInt64(entry.valueLength)))
    } else {
      list.add("value length", 6, .number(UInt64(entry.valueLength)))
    }
    if flags.contains(.expires) { list.add("expiry", 8, .instant(entry.expiry)) }
    if flags.contains(.keyspace) {
      list.add("keyspace", 4, .number(UInt64(entry.keyspace.id)))
      list.add("incarnation", 4, .number(UInt64(entry.keyspace.incarnation)))
    }
    list.add("key", entry.keyLength, .bytes)
    list.add(entry.isCompressed ? "value, compressed" : "value", entry.stored.count, .bytes)
    list.pad(to: entry.size)
    return list.fields
  }
}

extension PackedCell {
  /// All fields of the cell, with those of one of its records singled out.
  func fields(naming entry: PackedEntry) -> [NamedField] {
    var list = FieldList()
    let widths = CellColumn.allCases.map { Int(view.u8(start + CellColumn.widthsOffset + $0.rawValue)) }
    list.add("header checksum", 4, .hash(UInt64(entry.headChecksum)))
    if groupsStart > 0 {
      list.add("records in a group", 4, .number(UInt64(groupCount)))
    } else {
      list.add("values checksum", 4, .hash(UInt64(entry.plainChecksum)))
    }
    list.add("header length", 2, .number(UInt64(headLength)))
    list.add("stored length", 2, .number(UInt64(storedLength)))
    list.add("values length", 2, .number(UInt64(plainLength)))
    list.add("records", 1, .number(UInt64(count)))
    list.add("cell mark", 1, .hash(UInt64(view.u8(start + 15))))
    list.add("column widths", 6, .word(widths.map(String.init).joined(separator: " ")))
    list.add("common key bytes", 1, .number(UInt64(keyPrefixLength)))
    // The columns' bases, in on-disk order.
    for column in [CellColumn.kind, .sequence, .keyspace, .expiry, .keyLength, .valueLength] {
      list.add(column.words + " base", column.baseLength, base(of: column))
    }
    if groupsStart > 0 {
      for offset in stride(from: groupsStart, to: columnsStart, by: PackedLayout.groupHeaderLength) {
        list.add("values checksum", 4, .hash(UInt64(view.u32(start + offset))))
        list.add("values end", 2, .number(UInt64(view.u16(start + offset + 4))))
      }
    }
    for column in CellColumn.allCases { list.add(column.words + " column", widths[column.rawValue] * count, .bytes) }
    list.add("common key", keyPrefixLength, .bytes)
    let keys = entry.keyRest
    let before = view.offset(of: keys) ?? start + headLength
    let written = list.fields.last?.range.upperBound ?? 0
    list.add("other keys", before - start - written, .bytes)
    list.add("rest of the key", keys.count, .bytes)
    list.add("other keys", headLength - (before - start) - keys.count, .bytes)
    let groupStart = (view.offset(of: entry.stored) ?? start + headLength) - start - headLength
    list.add("other groups", groupStart, .bytes)
    if entry.isCompressed {
      list.add("values, compressed", entry.stored.count, .bytes)
    } else {
      list.add("other values", entry.valueOffset, .bytes)
      list.add("value", entry.valueLength, .bytes)
      list.add("other values", entry.stored.count - entry.valueOffset - entry.valueLength, .bytes)
    }
    list.add("other groups", storedLength - groupStart - entry.stored.count, .bytes)
    list.pad(to: PackedLayout.cellLength)
    return list.fields
  }

  private func base(of column: CellColumn) -> NamedField.Value {
    let offset = start + column.baseOffset
    switch column {
    case .kind: return .number(UInt64(view.u8(offset)))
    case .keyLength, .valueLength: return .number(UInt64(view.u16(offset)))
    case .expiry:
      let time = Int64(bitPattern: view.u64(offset))
      return time == .max ? .word("never") : .instant(time)
    case .sequence, .keyspace: return .number(view.u64(offset))
    }
  }
}

extension CellColumn {
  fileprivate var words: String {
    switch self {
    case .sequence: "sequence"
    case .kind: "kind"
    case .keyspace: "keyspace"
    case .expiry: "expiry"
    case .keyLength: "key length"
    case .valueLength: "value length"
    }
  }
}
