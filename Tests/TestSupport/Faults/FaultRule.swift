/// The calls that a `FaultyFileSystem` distinguishes: those of `FileSystem`, `File` and `Mapping`.
public enum FaultOperation: String, Sendable, CaseIterable {
  case open, create, status, list, createDirectory, removeDirectory, remove, rename, link, syncDirectory, freeSpace
  case workingDirectory, setAttributes
  case fileStatus, read, write, reserve, truncate, sync, map, mapPrivate, tryLock
  case extend, populate
}

/// A call about to be made.
public struct FaultCall: Sendable, CustomStringConvertible {
  /// The operation.
  public let operation: FaultOperation
  /// The file; for `rename` and `link` the new name.
  public let path: String
  /// 1 for the first call under this plan.
  public let index: Int

  /// The call in one line, for failure messages.
  public var description: String { "#\(index) \(operation.rawValue) \(path)" }
}

/// The files that a rule applies to.
public struct FileMatch: Sendable {
  let matches: @Sendable (String) -> Bool

  /// Files whose path satisfies `predicate`.
  public init(_ predicate: @escaping @Sendable (String) -> Bool) {
    matches = predicate
  }

  /// Every file and directory.
  public static let any = FileMatch { _ in true }

  /// Files whose path ends with `suffix`: `.suffix(".segment")`.
  public static func suffix(_ suffix: String) -> FileMatch {
    FileMatch { $0.hasSuffix(suffix) }
  }

  /// Files whose last path component begins with `prefix`: `.prefix("manifest")`.
  public static func prefix(_ prefix: String) -> FileMatch {
    FileMatch { path in (path.split(separator: "/").last ?? "").hasPrefix(prefix) }
  }
}

/// What happens to a call instead of, or in addition to, what was requested.
public enum FaultEffect: Sendable, Equatable {
  /// Nothing is done, and the call fails with this C error number.
  case error(Int32)
  /// A write only writes its first bytes and then fails, as on a disk that fills up halfway.
  case partial(bytes: Int, code: Int32)
  /// A read or write is made in two calls, the second from this byte on, so that a crash can fall between them.
  case split(at: Int)
  /// A sync fails and writes nothing; with `marksPagesClean` a simulated kernel then considers the pages written, so that
  /// later syncs succeed and yet a power failure loses them.
  case failedSync(code: Int32, marksPagesClean: Bool)
  /// Opening for writing fails with this C error number, as another user's file does, or one on a volume that is mounted read-only.
  case refusesWriting(Int32)
  /// A read returns its data with this bit flipped (counted from the first byte read).
  case flipBit(Int)
}

/// A fault.
public struct FaultRule: Sendable {
  /// The operation; nil for any.
  public let operation: FaultOperation?
  /// The files.
  public let file: FileMatch
  /// The effect.
  public let effect: FaultEffect
  private let sticky: Bool
  private var remaining: Int

  /// The `nth` matching call from now on (1: the next one) has `effect`; with `sticky` every later one too.
  public init(
    operation: FaultOperation?,
    file: FileMatch = .any,
    nth: Int = 1,
    sticky: Bool = false,
    effect: FaultEffect
  ) {
    self.operation = operation
    self.file = file
    self.effect = effect
    self.sticky = sticky
    remaining = nth
  }

  /// Counts the call if it matches; true if it is the nth, or a later one of a sticky rule.
  mutating func takesEffect(on call: FaultCall) -> Bool {
    guard operation == nil || operation == call.operation, file.matches(call.path) else { return false }
    remaining -= 1
    return remaining == 0 || (sticky && remaining < 0)
  }

  var isSpent: Bool { remaining <= 0 && !sticky }
}
