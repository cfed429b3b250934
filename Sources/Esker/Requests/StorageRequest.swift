internal import Synchronization

/// The arguments and results of a storage's calls: for those who write a storage or an operator of their own.
///
/// Calls are values, so that a storage has two functions, one that reads and one that writes, and every operation is written
/// once above them.
public enum StorageRequest {
  /// What a read asks for.
  public struct Read: Hashable, Sendable {
    /// Whether a value that has expired but was not removed yet is returned.
    public var allowsExpired: Bool
    /// Whether memory in front of a storage is skipped, as it is once it was asked. A storage that is memory itself answers all
    /// the same, and does not count the call.
    public var skipsMemory: Bool

    /// Whether the entry's version is needed, for a write on the condition that it is still there. A front that does not keep
    /// the versions of what is behind does not answer then.
    public var needsVersion: Bool
    /// Whether what has no version will do where what has one cannot be had: of a read that no write depends on.
    @usableFromInline package var acceptsUnversioned = false
    /// What memory counts of the call.
    @usableFromInline package var counting = Counting.all

    /// What memory counts of a call, so that a question counts once, however often it is asked on the way.
    @usableFromInline
    package enum Counting: UInt8, Sendable {
      /// A hit or a miss.
      case all
      /// A hit; where there is none, the read that follows counts.
      case hits
      /// Nothing: the question was asked before.
      case nothing
    }

    /// A read of what is there now.
    @inlinable
    public init(allowsExpired: Bool = false, skipsMemory: Bool = false, needsVersion: Bool = false) {
      self.allowsExpired = allowsExpired
      self.skipsMemory = skipsMemory
      self.needsVersion = needsVersion
    }

    /// A question for an entry, with its version if that can be had.
    @inlinable
    static func entry(allowsExpired: Bool) -> Read {
      var call = Read(allowsExpired: allowsExpired, needsVersion: true)
      call.acceptsUnversioned = true
      return call
    }

    /// Whether what has no version is no answer.
    @inlinable var refusesUnversioned: Bool { needsVersion && !acceptsUnversioned }

    /// The same for what answers only because what has versions does not.
    @inlinable
    var forSpare: Read {
      var call = self
      call.needsVersion = false
      call.skipsMemory = false
      call.counting = .nothing
      return call
    }

    /// A question that follows one that memory has answered.
    package static var again: Read {
      var call = Read()
      call.counting = .nothing
      return call
    }

    /// A question for what other processes may have stored meanwhile.
    static var behind: Read {
      var call = Read(skipsMemory: true, needsVersion: true)
      call.counting = .nothing
      return call
    }

    /// The call for a part of a composition that is asked first. If it skips memory because that was asked on behalf of the whole,
    /// the part's memory answers once more, since the whole may have made nothing of its answer.
    var forFirstPart: Read {
      guard skipsMemory, counting == .all else { return self }
      var call = self
      call.skipsMemory = false
      call.counting = .nothing
      return call
    }

    /// The call for the memory of a part that the read asks again if it does not answer.
    var forPreview: Read {
      var call = self
      if counting == .all { call.counting = .hits }
      return call
    }

    /// The call for a part whose own memory was not asked, though another's was.
    @inlinable
    var forOtherPart: Read {
      var call = self
      call.skipsMemory = false
      return call
    }
  }

  /// On what condition a write takes effect. Checking it and writing are one atomic step.
  public enum Condition: Hashable, Sendable {
    /// Unconditionally.
    case always
    /// There is no value.
    case absent
    /// There is a value.
    case present
    /// The value is still the one with this ``Entry/version``.
    case version(SequenceNumber)
  }

  /// What a write asks for.
  public struct Write<Value: Sendable>: Sendable {
    /// What is done.
    public enum Action: Sendable {
      /// The value is stored.
      case set(Value)
      /// The value that is there gets another expiry.
      case touch
      /// The value that is there stays for most of the duration of the expiry: one that does not expire, or that would gain less
      /// than an eighth of the duration, stays as it is.
      case extend
      /// The value that is there is removed.
      case remove
    }

    /// What is done.
    public var action: Action
    /// On what condition.
    public var condition: Condition
    /// When the value expires; nil: as the storage's default says.
    public var expiry: Expiry?
    /// What the write survives once the call has returned; nil: as the store's default says.
    public var durability: Durability?
    /// Whether a value that is there already, with the expiry that it would have, need not be written again.
    public var skipsUnchanged = false
    /// When what is written began to be made, as one of ``StorageRequest/nextMoment()``; 0: with the call.
    @usableFromInline package var began: UInt64 = 0

    /// A write from its parts.
    @inlinable
    public init(
      _ action: Action,
      if condition: Condition = .always,
      expiry: Expiry? = nil,
      durability: Durability? = nil
    ) {
      self.action = action
      self.condition = condition
      self.expiry = expiry
      self.durability = durability
    }

    /// A store of `value` in place of what has that version; nil means that there must be nothing.
    static func exchange(
      _ version: SequenceNumber?,
      for value: Value,
      _ expiry: Expiry?,
      _ durability: Durability?
    ) -> Write {
      Write(.set(value), if: version.map { .version($0) } ?? .absent, expiry: expiry, durability: durability)
    }

    /// Another expiry for the value that is there.
    static func touch(_ expiry: Expiry, _ durability: Durability?) -> Write {
      Write(.touch, if: .present, expiry: expiry, durability: durability)
    }

    /// A longer life for the value that is there.
    static func extend(by duration: Duration, _ durability: Durability?) -> Write {
      Write(.extend, if: .present, expiry: .after(duration), durability: durability)
    }

    @inlinable
    var isRemoval: Bool {
      if case .remove = action { return true }
      return false
    }

    /// The same with another value.
    @inlinable
    public func map<New, Failure: Error>(
      _ transform: (Value) throws(Failure) -> New
    ) throws(Failure) -> Write<New> {
      let turned: Write<New>.Action
      switch action {
      case .set(let value): turned = .set(try transform(value))
      case .touch: turned = .touch
      case .extend: turned = .extend
      case .remove: turned = .remove
      }
      var write = Write<New>(turned, if: condition, expiry: expiry, durability: durability)
      write.skipsUnchanged = skipsUnchanged
      write.began = began
      return write
    }
  }

  /// What a write did.
  public struct Receipt: Hashable, Sendable {
    /// Whether the condition held; if not, nothing has changed.
    public var isDone: Bool
    /// Whether there was a value, of a removal or a touch; other writes need not tell.
    public var wasThere: Bool
    /// The version of what is there now, where the storage has versions; nil where the condition did not hold or nothing is there.
    public var version: SequenceNumber?
    /// When what was stored expires.
    public var expiry: Expiry

    /// The version of what was stored; nil where it was not.
    var storedVersion: SequenceNumber? { isDone ? version : nil }

    /// A receipt from its parts.
    @inlinable
    public init(isDone: Bool, wasThere: Bool = false, version: SequenceNumber? = nil, expiry: Expiry = .never) {
      self.isDone = isDone
      self.wasThere = wasThere
      self.version = version
      self.expiry = expiry
    }
  }

  /// What memory alone knows about a key.
  public enum Held<Value: Sendable>: Sendable {
    /// The entry.
    case entry(Entry<Value>)
    /// The key is absent.
    case absent
    /// Memory does not know: the storage has to be asked.
    case unknown
  }

  /// Identifies an entry within the process, by the bytes of its key: tasks that produce the same entry wait for each other.
  public struct Identity: Hashable, Sendable {
    /// The storage's number, from ``StorageRequest/newStorage()``.
    public var storage: UInt64
    /// The key's bytes.
    public var key: [UInt8]

    /// An identity from its parts.
    public init(storage: UInt64, key: [UInt8]) {
      self.storage = storage
      self.key = key
    }
  }

  /// A moment of the process: later ones have greater numbers, none is 0.
  package static func nextMoment() -> UInt64 { MomentNumbers.next() }

  /// A number that no other storage of the process has.
  public static func newStorage() -> UInt64 { StorageNumbers.next() }

  /// A call, as a tap is notified of it; see ``StorageProtocol/tap(_:)``.
  public struct Record: Sendable {
    /// The storage's name.
    public let storage: String
    /// What was called.
    public let kind: Kind
    /// How long it took.
    public let duration: Duration
    /// Why it failed, if it did.
    public let error: StorageError?
  }

  /// What was called. A call that failed counts as one that found nothing.
  public enum Kind: Hashable, Sendable {
    /// A read; whether there was a value.
    case read(found: Bool)
    /// A read from memory alone that found nothing there; the storage itself may be asked next.
    case missedMemory
    /// A store of a value; whether its condition held.
    case set(isDone: Bool)
    /// A new expiry; whether the value has it.
    case touch(isDone: Bool)
    /// A removal; whether there was a value.
    case remove(found: Bool)
  }
}

/// Numbers for storages. A counter: relaxed.
enum StorageNumbers {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// Numbers of moments. A counter: relaxed, since what happens before something else also counts before it.
enum MomentNumbers {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
