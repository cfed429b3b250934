extension PackedSegmentView {
  /// The value where it lies; nil when it has to be decompressed.
  public func storedValue(of entry: PackedEntry) -> UnsafeRawBufferPointer? {
    guard !entry.isCompressed else { return nil }
    let end = entry.valueOffset + entry.valueLength
    return unsafe UnsafeRawBufferPointer(rebasing: entry.stored[entry.valueOffset..<end])
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
    if let value = unsafe storedValue(of: entry) {
      if isVerified, unsafe CRC32C.checksum(of: entry.stored) != entry.plainChecksum { return .bodyChecksum }
      unsafe destination.copyMemory(from: value)
      return nil
    }
    if let room = unsafe room {
      let dictionary = unsafe UnsafeRawBufferPointer(start: room, count: self.dictionary.count)
      let plain = unsafe UnsafeMutableRawBufferPointer(start: room + dictionary.count, count: entry.plainLength)
      guard unsafe decompress(entry, into: plain, dictionary, isVerified: isVerified) else { return .bodyChecksum }
      let end = entry.valueOffset + entry.valueLength
      unsafe destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: plain[entry.valueOffset..<end]))
      return nil
    }
    if entry.valueLength == entry.plainLength {
      return unsafe decompress(entry, into: destination, dictionary, isVerified: isVerified) ? nil : .bodyChecksum
    }
    return unsafe withUnsafeTemporaryAllocation(byteCount: entry.plainLength, alignment: 16) { plain in
      guard unsafe decompress(entry, into: plain, dictionary, isVerified: isVerified) else { return .bodyChecksum }
      let end = entry.valueOffset + entry.valueLength
      unsafe destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: plain[entry.valueOffset..<end]))
      return nil
    }
  }

  /// What is wrong with a record, if anything is; its value is decompressed to find out.
  public func damage(of entry: PackedEntry) -> RecordDamage? {
    if !entry.headIsIntact(salt: salt) { return .headerChecksum }
    if !entry.isCompressed {
      return unsafe CRC32C.checksum(of: entry.stored) == entry.plainChecksum ? nil : .bodyChecksum
    }
    return unsafe withUnsafeTemporaryAllocation(byteCount: entry.plainLength, alignment: 16) { plain in
      unsafe decompress(entry, into: plain, dictionary, isVerified: true) ? nil : .bodyChecksum
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
      isIntact = unsafe CRC32C.checksum(of: entry.stored) == entry.plainChecksum
    } else if entry.plainLength <= roomLength {
      let dictionary = unsafe UnsafeRawBufferPointer(start: room, count: self.dictionary.count)
      let plain = unsafe UnsafeMutableRawBufferPointer(start: room + dictionary.count, count: entry.plainLength)
      isIntact = unsafe decompress(entry, into: plain, dictionary, isVerified: true)
    } else {
      isIntact = damage(of: entry) == nil
    }
    let damage: RecordDamage? = isIntact ? nil : .bodyChecksum
    if entry.isInCell { checked = (entry.headOffset, damage) }
    return damage
  }

  /// Whether the header's and the value's checksum are right, where the value lies as it is.
  public func storedValueIsIntact(_ entry: PackedEntry) -> Bool {
    unsafe !entry.isCompressed && CRC32C.checksum(of: entry.stored) == entry.plainChecksum
      && entry.headIsIntact(salt: salt)
  }

  private func decompress(
    _ entry: PackedEntry,
    into plain: UnsafeMutableRawBufferPointer,
    _ dictionary: UnsafeRawBufferPointer,
    isVerified: Bool
  ) -> Bool {
    guard unsafe LZ4.decompress(entry.stored, into: plain, dictionary: dictionary) else { return false }
    return unsafe !isVerified || CRC32C.checksum(of: UnsafeRawBufferPointer(plain)) == entry.plainChecksum
  }
}
