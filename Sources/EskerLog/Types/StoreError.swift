/// Why a call to a store failed. No cases will be added: a `switch` over it is exhaustive.
public enum StoreError: Error, Hashable, Sendable {
  /// The store was closed before the call.
  case closed
  /// The store was opened with ``Options/readOnly``.
  case readOnly
  /// The store was suspended by ``LogStore/suspend(patience:)`` before the call, which changed nothing. Resume it, and try again.
  case suspended(path: String)
  /// The waiting task was cancelled. What it had already written is kept.
  case cancelled
  /// The store is open for writing elsewhere; `holder` is the process id (0 if it could not be read).
  case locked(path: String, holder: Int32)
  /// The path names something that is neither a store nor an empty directory. Nothing was touched.
  case notAStore(path: String)
  /// The directory for a new store or a backup already exists and is not empty. Nothing was touched.
  case directoryNotEmpty(path: String)
  /// The directory holds an unfinished copy: process `holder` is writing it, or it was interrupted (0). The file `mark`
  /// says which kind of copy it is. Nothing was touched. Repeat the same call, or remove the directory.
  case unfinishedCopy(path: String, mark: String, holder: Int32)
  /// The backup, or the keyspace, belongs to another store. Nothing was touched.
  case otherStore(path: String)
  /// The file was written by a newer Esker. Nothing was touched.
  case unknownFormat(path: String, version: UInt32)
  /// Bytes on disk do not match their checksum. Everything else in the store stays readable.
  case damaged(StoreError.Location, reason: String)
  /// The volume is full; `needed` is in bytes. The write changed nothing.
  case noSpace(path: String, needed: Int)
  /// The write does not fit within ``Options/capacity``: it takes more than half of the capacity, which is refused however
  /// empty the store is, or eviction cannot make room, because what is left cannot be merged. `needed` is in bytes of
  /// records. The write changed nothing, and in the first case evicted nothing.
  case capacityReached(path: String, capacity: Int, needed: Int)
  /// The write adds so many bytes of records, in so many entries, to a keyspace whose ``Keyspace/capacity`` is less than that. The
  /// write changed nothing.
  case keyspaceFull(keyspace: String, bytes: Int, entries: Int)
  /// The system does not let this process at the file or directory: while the device is locked, if the file is protected as
  /// ``Options/fileProtection`` says, or because of its permissions. It is no damage, and nothing was changed. Try again once the device
  /// is unlocked. `errno` is the C error number.
  case accessDenied(path: String, errno: Int32)
  /// A call to the operating system failed; `errno` is the C error number, or 0 if something else failed, which `operation` names.
  case failed(operation: String, path: String, errno: Int32)
  /// A sync failed, now or earlier; the call itself changed nothing. The store refuses writes until it is reopened,
  /// because the system may have dropped the bytes it could not write.
  case syncFailed(errno: Int32)
  /// A call to the operating system failed during or after the write: after the next opening it is there either as a
  /// whole or not at all. Until then reads may show it, and the store refuses writes.
  case outcomeUnknown(errno: Int32)
  /// The key has this many bytes; at most 65,535 are possible.
  case keyTooLong(Int)
  /// The value has this many bytes; at most ``LogStore/maximumValueLength`` are possible.
  case valueTooLong(Int)
  /// The batch has this many bytes of records; at most ``LogStore/maximumBatchLength`` are possible.
  case batchTooLarge(Int)
  /// The key, of the keyspace of that name, is not as the write requires. Nothing was written. Read again, and decide anew; a
  /// transaction does, up to a number of times.
  case conflict(keyspace: String, key: [UInt8])
  /// The log no longer contains all changes since that write, or the write is not one of this store; changes since
  /// `oldest` are available. Take a snapshot, and resume from its sequence number.
  case historyGone(since: SequenceNumber, oldest: SequenceNumber)
  /// The keyspace's name is longer than 255 bytes of UTF-8, or there are too many keyspaces; or it is the default keyspace,
  /// which cannot be removed.
  case invalidKeyspace(String)
  /// The keyspace was removed. The call changed nothing.
  case keyspaceRemoved(String)
  /// There is no such keyspace, and a store opened with ``Options/readOnly`` creates none: its writer does, when it first asks
  /// for it.
  case noSuchKeyspace(String)
}

extension StoreError {
  /// Where damage was found.
  public struct Location: Hashable, Sendable {
    /// The damaged file.
    public var path: String
    /// The segment's id, if the file is a segment.
    public var segment: UInt64?
    /// The offset of the first damaged byte in the file, if known.
    public var offset: Int?
    /// The key whose record is damaged, if known.
    public var key: [UInt8]?

    /// Creates a location from its parts.
    public init(path: String, segment: UInt64? = nil, offset: Int? = nil, key: [UInt8]? = nil) {
      self.path = path
      self.segment = segment
      self.offset = offset
      self.key = key
    }
  }
}

extension StoreError {
  /// Advice for a store that can no longer be opened: in a program, or with the tool.
  static let remedy =
    "restore the store from a backup, or salvage what is intact into a new one (LogStore.salvage, esker repair)"

  /// Advice for an open store that is damaged.
  static let remedyOfLive =
    "overwrite or remove the damaged keys and merge, or salvage what is intact into a new store (LogStore.salvage, esker repair)"
}

extension StoreError: CustomStringConvertible {
  /// What happened, where, and what to do, in one line.
  public var description: String {
    switch self {
    case .closed:
      "the store is closed: reopen it"
    case .readOnly:
      "the store was opened read-only: open it for writing to change it"
    case .suspended(let path):
      "\(path) is suspended, so that other processes may write to it: nothing was changed; resume it, and try again"
    case .cancelled:
      "the waiting task was cancelled; what it had already written is kept"
    case .locked(let path, let holder):
      holder == 0
        ? "\(path) is open for writing elsewhere: close it there, or open it read-only"
        : "\(path) is open for writing in process \(holder): close it there, or open it read-only"
    case .notAStore(let path):
      "\(path) is neither an Esker store nor an empty directory: nothing was touched; choose another path"
    case .directoryNotEmpty(let path):
      "\(path) already exists and is not empty: nothing was touched; choose another path, or remove it"
    case .unfinishedCopy(let path, let mark, let holder):
      holder == 0
        ? "\(path) is an unfinished copy (it contains \(mark)): repeat the same command, or remove the directory"
        : "\(path) is being written by process \(holder) (it contains \(mark)): wait until it is done"
    case .otherStore(let path):
      "\(path) holds another store: nothing was touched; for a backup, name one of this store or none; a reader, open again"
    case .unknownFormat(let path, let version):
      "\(path) has format version \(version), which this version of Esker does not support: nothing was touched; update Esker"
    case .damaged(let location, let reason):
      "\(location): \(reason)"
    case .noSpace(let path, let needed):
      "not enough space on the volume of \(path): \(needed) bytes needed; nothing was changed; free some space and try again"
    case .capacityReached(let path, let capacity, let needed):
      needed > capacity / 2
        ? "a write of \(needed) bytes is more than half of the capacity of \(path) (\(capacity) bytes): nothing was changed; "
          + "split the write, or open the store with a larger capacity"
        : "\(needed) bytes do not fit within the capacity of \(path) (\(capacity) bytes): nothing was changed; open it "
          + "with a larger capacity"
    case .keyspaceFull(let name, let bytes, let entries):
      "a write adds \(bytes) bytes in \(entries) entries to the keyspace \"\(name)\", whose capacity is less: nothing was changed; "
        + "split the write, or give the keyspace a larger capacity"
    case .accessDenied(let path, let code):
      "the system refuses access to \(path) (\(errorMessage(code))): nothing was changed, and nothing is damaged; if the device is locked, "
        + "try again once it is unlocked, otherwise look at the permissions"
    case .failed(let operation, let path, let code):
      code == 0 ? "cannot \(operation) \(path)" : "cannot \(operation) \(path): \(errorMessage(code))"
    case .syncFailed(let code):
      "a sync failed (\(errorMessage(code))): writes are refused until the store is reopened"
    case .outcomeUnknown(let code):
      "a write or its sync failed (\(errorMessage(code))): this write may or may not have been kept; "
        + "further writes are refused until the store is reopened"
    case .keyTooLong(let length):
      "the key has \(length) bytes; the limit is \(LogStore.maximumKeyLength)"
    case .valueTooLong(let length):
      "the value has \(length) bytes; the limit is \(LogStore.maximumValueLength)"
    case .batchTooLarge(let length):
      "the batch has \(length) bytes; the limit is \(LogStore.maximumBatchLength): split it"
    case .conflict(let name, let key):
      "the key \(printable(key))\(name.isEmpty ? "" : " of the keyspace \"\(name)\"") is not as the write requires: nothing was written; "
        + "read it again, and decide anew"
    case .historyGone(let since, let oldest):
      "the log no longer holds all changes since \(since) (oldest available: \(oldest)): take a snapshot and resume from its "
        + "sequence number"
    case .invalidKeyspace(let name):
      name.isEmpty
        ? "the default keyspace cannot be removed: empty it instead"
        : "the keyspace name \"\(name)\" cannot be used: it is longer than 255 bytes, or the store has too many keyspaces"
    case .keyspaceRemoved(let name):
      "the keyspace \"\(name)\" was removed: ask the store for it again to create a new one"
    case .noSuchKeyspace(let name):
      "there is no keyspace \"\(name)\" yet, and a store opened read-only creates none: ask again once the program that writes "
        + "has used it, or open the store for writing"
    }
  }
}

extension StoreError.Location: CustomStringConvertible {
  /// The file, the offset and the key, as far as known, in one line.
  public var description: String {
    var text = "damage in \(path)"
    if let offset { text += " at offset \(offset)" }
    if let key { text += " (key \(printable(key)))" }
    return text
  }
}

/// A key as text for a message: as it is if it is printable UTF-8, in hexadecimal otherwise; shortened if long.
func printable(_ key: [UInt8]) -> String {
  let shown = key.prefix(64)
  let rest = key.count > shown.count ? "… \(key.count) bytes" : ""
  if let text = String(validating: shown, as: UTF8.self), text.unicodeScalars.allSatisfy({ $0.value >= 32 }) {
    return "\"\(text)\"\(rest)"
  }
  let digits = Array("0123456789abcdef")
  return "0x" + String(shown.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) + rest
}

extension StoreError {
  /// The error for a write that was logged when making it durable failed.
  var ofLoggedWrite: StoreError {
    if case .syncFailed(let code) = self { .outcomeUnknown(errno: code) } else { self }
  }

  /// The bytes needed, if the volume or the capacity has no room for them; nil for any other error.
  var bytesLacking: Int? {
    switch self {
    case .noSpace(_, let needed), .capacityReached(_, _, let needed): needed
    default: nil
    }
  }
}
