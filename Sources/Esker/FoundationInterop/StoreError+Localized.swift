public import Foundation

/// Sentences for people who use a program, in English: `localizedDescription` is the first. For whoever develops it, printing
/// the error says the same in one line, with more detail.
extension StoreError: LocalizedError {
  /// What happened.
  public var errorDescription: String? {
    switch self {
    case .closed: "The store is closed."
    case .readOnly: "The store can only be read."
    case .suspended(let path): "The store “\(name(path))” is suspended."
    case .cancelled: "The operation was cancelled."
    case .locked(let path, _): "The store “\(name(path))” is in use."
    case .notAStore(let path): "“\(name(path))” is not a store."
    case .directoryNotEmpty(let path): "“\(name(path))” already exists."
    case .unfinishedCopy(let path, _, _): "The copy in “\(name(path))” is not finished."
    case .otherStore(let path): "“\(name(path))” belongs to another store."
    case .unknownFormat(let path, _): "“\(name(path))” was made by a newer version."
    case .damaged(let location, _): "The file “\(name(location.path))” is damaged."
    case .noSpace: "There is not enough free space."
    case .capacityReached(let path, _, _): "The store “\(name(path))” is full."
    case .keyspaceFull(let name, _, _): "“\(name)” has no room for that."
    case .accessDenied(let path, _): "“\(name(path))” cannot be accessed at the moment."
    case .failed(let operation, let path, _): "Could not \(operation) “\(name(path))”."
    case .syncFailed: "Changes could not be saved."
    case .outcomeUnknown: "It is not known whether the change was saved."
    case .keyTooLong: "The key is too long."
    case .valueTooLong: "The value is too long."
    case .batchTooLarge: "There are too many changes at once."
    case .conflict: "Something is not as it was expected to be."
    case .historyGone: "Earlier changes are no longer available."
    case .invalidKeyspace(let name):
      name.isEmpty ? "The default keyspace cannot be removed." : "The name “\(name)” cannot be used."
    case .keyspaceRemoved(let name): "The keyspace “\(name)” was removed."
    case .noSuchKeyspace(let name): "There is nothing in “\(name)” yet."
    }
  }

  /// Why it happened; nil where there is nothing to add.
  public var failureReason: String? {
    switch self {
    case .closed, .cancelled, .keyspaceRemoved: nil
    case .readOnly: "It was opened for reading only."
    case .suspended: "It was let go of, so that other programs can write to it. Nothing was changed."
    case .noSuchKeyspace: "The store was opened for reading only, and nobody has written there."
    case .locked(_, let holder):
      holder == 0 ? "Another process has it open." : "Process \(holder) has it open."
    case .notAStore: "There is something else at that place. It was left unchanged."
    case .directoryNotEmpty: "The directory is not empty. It was left unchanged."
    case .unfinishedCopy(_, _, let holder):
      holder == 0 ? "Copying was interrupted." : "Process \(holder) is still copying."
    case .otherStore: "It was made from a different store. It was left unchanged."
    case .unknownFormat(_, let version): "Its format, \(version), is not known. It was left unchanged."
    case .damaged(_, let reason): "Its contents are not what was written: \(reason)."
    case .noSpace(_, let needed): "\(byteCount(needed)) are needed. Nothing was changed."
    case .capacityReached(_, let capacity, let needed):
      "\(byteCount(needed)) do not fit within its limit of \(byteCount(capacity)). Nothing was changed."
    case .keyspaceFull(_, let bytes, _): "\(byteCount(bytes)) do not fit within its limit. Nothing was changed."
    case .accessDenied: "The device is locked, or the file’s permissions do not allow it. Nothing was changed."
    case .failed(_, _, let code): code == 0 ? nil : "\(system(code))."
    case .syncFailed(let code): "The disk reported: \(system(code))."
    case .outcomeUnknown(let code): "The disk reported: \(system(code))."
    case .keyTooLong(let length): tooLong(length, LogStore.maximumKeyLength)
    case .valueTooLong(let length): tooLong(length, LogStore.maximumValueLength)
    case .batchTooLarge(let length): tooLong(length, LogStore.maximumBatchLength)
    case .conflict: "Nothing was changed."
    case .historyGone(_, let oldest): "The oldest change that is kept is \(oldest)."
    case .invalidKeyspace(let name):
      name.isEmpty ? nil : "It is longer than 255 bytes, or there are too many names."
    }
  }

  /// What to do; nil where there is nothing to say.
  public var recoverySuggestion: String? {
    switch self {
    case .closed, .syncFailed, .outcomeUnknown: "Open the store again."
    case .readOnly: "Open it for writing."
    case .suspended: "Resume it, and try again."
    case .cancelled: nil
    case .locked: "Close it there, or open it for reading only."
    case .notAStore, .directoryNotEmpty: "Choose another place."
    case .unfinishedCopy(_, _, let holder):
      holder == 0 ? "Repeat the copy, or remove the directory." : "Wait until it is done."
    case .otherStore: "Choose a backup of this store, or another place."
    case .unknownFormat: "Update the program."
    case .damaged: "Restore a backup, or repair the store."
    case .noSpace: "Free some space, and try again."
    case .capacityReached: "Open the store with a higher capacity."
    case .keyspaceFull: "Give it a higher capacity."
    case .accessDenied: "Unlock the device, and try again."
    case .failed: nil
    case .keyTooLong, .valueTooLong: "Use a shorter one."
    case .batchTooLarge: "Make fewer changes at a time."
    case .conflict: "Try again."
    case .historyGone: "Read everything again."
    case .invalidKeyspace(let name): name.isEmpty ? "Empty it instead." : "Use a shorter name, or fewer of them."
    case .keyspaceRemoved: "Use another one."
    case .noSuchKeyspace: "Try again later."
    }
  }
}

/// The last part of a path, which says enough to those who chose it.
private func name(_ path: String) -> String { URL(filePath: path).lastPathComponent }

private func byteCount(_ count: Int) -> String { Int64(count).formatted(.byteCount(style: .file)) }

private func tooLong(_ length: Int, _ limit: Int) -> String {
  "It has \(byteCount(length)), and \(byteCount(limit)) are possible."
}

private func system(_ code: Int32) -> String { errorMessage(code) }
