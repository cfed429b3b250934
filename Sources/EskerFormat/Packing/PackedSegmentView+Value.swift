// Safety: callers keep their buffers during the call. A room has the length its description asks for: the dictionary of the
// segment and the plain bytes after it. Memory for plain bytes has `plainLength` bytes, which the decompressor fills to the
// end or else reports damage. Only a part of them is copied, whose place `PackedEntry.value(in:)` checks.

extension PackedSegmentView {
  /// The value where it lies; nil when it has to be decompressed.
  public func storedValue(of entry: PackedEntry) -> UnsafeRawBufferPointer? {
    entry.isCompressed ? nil : unsafe entry.value(in: entry.stored).pointer
  }

  /// Copies a record's value, decompressing it if need be; returns what is wrong with the record, if anything is.
  ///
  /// - Parameters:
  ///   - entry: A record of this segment.
  ///   - destination: As many bytes as the value has. They are unspecified when the result is not nil.
  ///   - isVerified: Whether checksums are compared.
  ///   - isHeadVerified: Whether the header's was compared just now.
  ///   - room: A copy of the segment's dictionary with space for the plain bytes right behind it, in which decompressing
  ///     takes half of the time.
  /// - Complexity: O(n); in a room 0.2 microseconds for 500 bytes. In a cell, all of its values are decompressed.
  public func copyValue(
    of entry: PackedEntry,
    into destination: UnsafeMutableRawBufferPointer,
    isVerified: Bool,
    isHeadVerified: Bool = false,
    room: UnsafeMutableRawPointer? = nil
  ) -> RecordDamage? {
    precondition(destination.count == entry.valueLength)
    if isVerified, !isHeadVerified, !entry.headIsIntact(salt: salt) { return .headerChecksum }
    if !entry.isCompressed {
      let plain = !isVerified || entry.isIntact(entry.stored) ? entry.stored : nil
      return unsafe copyValue(of: entry, from: plain, to: destination)
    }
    if let room = unsafe room {
      return unsafe copyValue(of: entry, from: unpack(entry, inRoom: room, isVerified: isVerified), to: destination)
    }
    if entry.valueLength == entry.plainLength {
      return unsafe unpack(entry, into: destination, dictionary, isVerified: isVerified) == nil ? .bodyChecksum : nil
    }
    return unsafe withUnsafeTemporaryAllocation(byteCount: entry.plainLength, alignment: 16) { plain in
      unsafe copyValue(
        of: entry,
        from: unpack(entry, into: plain, dictionary, isVerified: isVerified),
        to: destination
      )
    }
  }

  private func copyValue(
    of entry: PackedEntry,
    from plain: ByteRun?,
    to destination: UnsafeMutableRawBufferPointer
  ) -> RecordDamage? {
    guard let plain else { return .bodyChecksum }
    unsafe destination.copyMemory(from: entry.value(in: plain).pointer)
    return nil
  }

  /// What is wrong with a record, if anything is; its value is decompressed to find out.
  public func damage(of entry: PackedEntry) -> RecordDamage? {
    if !entry.headIsIntact(salt: salt) { return .headerChecksum }
    if !entry.isCompressed { return entry.isIntact(entry.stored) ? nil : .bodyChecksum }
    return unsafe withUnsafeTemporaryAllocation(byteCount: entry.plainLength, alignment: 16) { plain in
      unsafe unpack(entry, into: plain, dictionary, isVerified: true) == nil ? .bodyChecksum : nil
    }
  }

  /// What is wrong with a record whose header is intact, if anything is. For whoever checks one record after the other.
  ///
  /// - Parameters:
  ///   - checked: the cell that was looked at last, and what came of it: its records have their values in common.
  ///   - room: A copy of the segment's dictionary with space for `roomLength` plain bytes right behind it.
  public func valueDamage(
    of entry: PackedEntry,
    lastCell checked: inout (start: Int, damage: RecordDamage?)?,
    room: UnsafeMutableRawPointer,
    roomLength: Int
  ) -> RecordDamage? {
    if entry.isInCell, let checked, checked.start == entry.headOffset { return checked.damage }
    let isIntact: Bool
    if !entry.isCompressed {
      isIntact = entry.isIntact(entry.stored)
    } else if entry.plainLength <= roomLength {
      isIntact = unsafe unpack(entry, inRoom: room, isVerified: true) != nil
    } else {
      isIntact = damage(of: entry) == nil
    }
    let damage: RecordDamage? = isIntact ? nil : .bodyChecksum
    if entry.isInCell { checked = (entry.headOffset, damage) }
    return damage
  }

  /// Whether the header's and the value's checksum are right, where the value lies as it is.
  public func storedValueIsIntact(_ entry: PackedEntry) -> Bool {
    !entry.isCompressed && entry.isIntact(entry.stored) && entry.headIsIntact(salt: salt)
  }

  /// Decompresses into the memory that follows a copy of the dictionary; nil when the record is damaged.
  private func unpack(_ entry: PackedEntry, inRoom room: UnsafeMutableRawPointer, isVerified: Bool) -> ByteRun? {
    let dictionary = unsafe UnsafeRawBufferPointer(start: room, count: self.dictionary.count)
    let plain = unsafe UnsafeMutableRawBufferPointer(start: room + dictionary.count, count: entry.plainLength)
    return unsafe unpack(entry, into: plain, dictionary, isVerified: isVerified)
  }

  private func unpack(
    _ entry: PackedEntry,
    into room: UnsafeMutableRawBufferPointer,
    _ dictionary: UnsafeRawBufferPointer,
    isVerified: Bool
  ) -> ByteRun? {
    guard unsafe LZ4.decompress(entry.stored.pointer, into: room, dictionary: dictionary) else { return nil }
    let plain = unsafe ByteRun(UnsafeRawBufferPointer(room))
    return !isVerified || entry.isIntact(plain) ? plain : nil
  }
}
