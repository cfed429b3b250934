// Safety: callers keep their buffers during the call. A buffer has the length its description asks for: the dictionary of the
// segment and the plain bytes after it. Memory for plain bytes has `plainLength` bytes, which the decompressor fills to the
// end or else reports damage. Only a part of them is copied, whose place `PackedEntry.value(in:)` checks.

extension PackedSegmentView {
  /// The value in place; nil if it must be decompressed.
  public func storedValue(of entry: PackedEntry) -> UnsafeRawBufferPointer? {
    entry.isCompressed ? nil : unsafe entry.value(in: entry.stored).pointer
  }

  /// Copies a record's value, decompressing it if needed; returns the damage found, if any.
  ///
  /// - Parameters:
  ///   - entry: A record of this segment.
  ///   - destination: As many bytes as the value has. They are unspecified if the result is not nil.
  ///   - isVerified: Whether to compare checksums.
  ///   - isHeadVerified: Whether the header's checksum has just been compared.
  ///   - buffer: A copy of the segment's dictionary with space for the uncompressed bytes right after it, which halves the
  ///     time to decompress.
  /// - Complexity: O(n); with a buffer 0.2 microseconds for 500 bytes. In a cell, the values of a group are decompressed.
  public func copyValue(
    of entry: PackedEntry,
    into destination: UnsafeMutableRawBufferPointer,
    isVerified: Bool,
    isHeadVerified: Bool = false,
    buffer: UnsafeMutableRawPointer? = nil
  ) -> RecordDamage? {
    precondition(destination.count == entry.valueLength)
    if isVerified, !isHeadVerified, !entry.headIsIntact(salt: salt) { return .headerChecksum }
    if !entry.isCompressed {
      let plain = !isVerified || entry.isIntact(entry.stored) ? entry.stored : nil
      return unsafe copyValue(of: entry, from: plain, to: destination)
    }
    if let buffer = unsafe buffer {
      return unsafe copyValue(of: entry, from: unpack(entry, inBuffer: buffer, isVerified: isVerified), to: destination)
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

  /// The damage to a record, if any; decompresses its value to find out.
  public func damage(of entry: PackedEntry) -> RecordDamage? {
    if !entry.headIsIntact(salt: salt) { return .headerChecksum }
    if !entry.isCompressed { return entry.isIntact(entry.stored) ? nil : .bodyChecksum }
    return unsafe withUnsafeTemporaryAllocation(byteCount: entry.plainLength, alignment: 16) { plain in
      unsafe unpack(entry, into: plain, dictionary, isVerified: true) == nil ? .bodyChecksum : nil
    }
  }

  /// The damage to a record whose header is intact, if any. For checking records in sequence.
  ///
  /// - Parameters:
  ///   - checked: The last group in a cell that was checked, and the result.
  ///   - buffer: A copy of the segment's dictionary with space for `bufferLength` uncompressed bytes right after it.
  public func valueDamage(
    of entry: PackedEntry,
    lastGroup checked: inout (id: Int, damage: RecordDamage?)?,
    buffer: UnsafeMutableRawPointer,
    bufferLength: Int
  ) -> RecordDamage? {
    if entry.isInCell, let checked, checked.id == entry.groupID { return checked.damage }
    let isIntact: Bool
    if !entry.isCompressed {
      isIntact = entry.isIntact(entry.stored)
    } else if entry.plainLength <= bufferLength {
      isIntact = unsafe unpack(entry, inBuffer: buffer, isVerified: true) != nil
    } else {
      isIntact = damage(of: entry) == nil
    }
    let damage: RecordDamage? = isIntact ? nil : .bodyChecksum
    if entry.isInCell { checked = (entry.groupID, damage) }
    return damage
  }

  /// Whether the value is stored uncompressed, and it and the header match their checksums.
  public func storedValueIsIntact(_ entry: PackedEntry) -> Bool {
    !entry.isCompressed && entry.isIntact(entry.stored) && entry.headIsIntact(salt: salt)
  }

  /// Decompresses into the memory after a copy of the dictionary; nil if the record is damaged.
  private func unpack(_ entry: PackedEntry, inBuffer buffer: UnsafeMutableRawPointer, isVerified: Bool) -> ByteRun? {
    let dictionary = unsafe UnsafeRawBufferPointer(start: buffer, count: self.dictionary.count)
    let plain = unsafe UnsafeMutableRawBufferPointer(start: buffer + dictionary.count, count: entry.plainLength)
    return unsafe unpack(entry, into: plain, dictionary, isVerified: isVerified)
  }

  private func unpack(
    _ entry: PackedEntry,
    into buffer: UnsafeMutableRawBufferPointer,
    _ dictionary: UnsafeRawBufferPointer,
    isVerified: Bool
  ) -> ByteRun? {
    guard unsafe LZ4.decompress(entry.stored.pointer, into: buffer, dictionary: dictionary) else { return nil }
    let plain = unsafe ByteRun(UnsafeRawBufferPointer(buffer))
    return !isVerified || entry.isIntact(plain) ? plain : nil
  }
}
