#if SCHEDULES
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// Something that a member of a run was about to do.
  public struct ScheduleEvent: Sendable {
    /// What it was.
    public enum Kind: UInt8, Sendable {
      case note, begin, start, end
      case lock, tryLock, unlock, wait, signal, access, call, yield
    }

    /// What it is.
    public let kind: Kind
    /// The member that was about to do it.
    public let member: UInt8
    /// Who goes on; the member itself, unless there was a choice.
    public private(set) var chosen: UInt8
    /// Whether the usual choice was another.
    public private(set) var deviates = false
    /// Who could have gone on, a bit each; zero if there was no choice.
    public private(set) var options: UInt64 = 0
    /// How many choices came before.
    public private(set) var step: UInt32 = 0
    /// Which lock, condition or the like, in the order in which they were met.
    public let object: UInt32
    /// The line of an access.
    public let line: UInt32
    /// The name of the lock, or the file of an access.
    public let name: StaticString
    fileprivate(set) var text: Range<Int32> = 0..<0

    init(_ kind: Kind, by member: Int, _ name: StaticString = "", _ object: UInt32 = 0, line: UInt = 0) {
      self.kind = kind
      self.member = UInt8(member)
      self.object = object
      self.name = name
      self.line = UInt32(line)
      chosen = UInt8(member)
    }

    mutating func offer(_ members: MemberSet, step: Int, chosen: Int, usual: Int) {
      options = members.bits
      self.step = UInt32(step)
      self.chosen = UInt8(chosen)
      deviates = chosen != usual
    }
  }

  /// What happened in a run, in memory that a process shares with its children: it is there whatever became of the one that ran.
  ///
  /// Safety: the memory lives as long as the process. One process at a time uses it, and in that one whoever has its turn.
  @safe
  public final class ScheduleTrace: @unchecked Sendable {
    private struct Header {
      var count = 0
      var steps = 0
      var points = 0
      var hash: UInt64 = 0xCBF2_9CE4_8422_2325
      var textLength = 0
      var failure: Range<Int32> = 0..<0
    }

    private static let mostEvents = 500_000
    private static let mostText = 1 << 20

    private let header: UnsafeMutablePointer<Header>
    private let list: UnsafeMutablePointer<ScheduleEvent>
    private let bytes: UnsafeMutablePointer<UInt8>

    /// An empty one; nil if there is no memory.
    public init?() {
      let listStart = 4096
      let textStart = listStart + Self.mostEvents * MemoryLayout<ScheduleEvent>.stride
      let flags = MAP_SHARED | MAP_ANONYMOUS
      let length = textStart + Self.mostText
      guard let memory = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, flags, -1, 0), unsafe memory != MAP_FAILED
      else {
        return nil
      }
      unsafe header = memory.bindMemory(to: Header.self, capacity: 1)
      unsafe list = (memory + listStart).bindMemory(to: ScheduleEvent.self, capacity: Self.mostEvents)
      unsafe bytes = (memory + textStart).bindMemory(to: UInt8.self, capacity: Self.mostText)
      clear()
    }

    /// Forgets the last run.
    public func clear() { unsafe header.initialize(to: Header()) }

    /// How often somebody was about to do something.
    public var points: Int { unsafe header.pointee.points }

    /// How often more than one could have gone on.
    public var steps: Int { unsafe header.pointee.steps }

    /// The same for the same run.
    public var hash: UInt64 { unsafe header.pointee.hash }

    /// Why the run failed, if somebody said so.
    public var failure: String? {
      let range = unsafe header.pointee.failure
      return range.isEmpty ? nil : text(range)
    }

    /// All of them, in order.
    public var events: UnsafeBufferPointer<ScheduleEvent> {
      unsafe UnsafeBufferPointer(start: list, count: header.pointee.count)
    }

    /// What a note or a call says.
    public func text(of event: ScheduleEvent) -> String { text(event.text) }

    private func text(_ range: Range<Int32>) -> String {
      unsafe String(
        decoding: UnsafeBufferPointer(start: bytes + Int(range.lowerBound), count: range.count),
        as: UTF8.self
      )
    }

    private func keep(_ text: String) -> Range<Int32> {
      let start = unsafe header.pointee.textLength
      let utf8 = Array(text.utf8.prefix(Self.mostText - start))
      for (index, byte) in utf8.enumerated() { unsafe bytes[start + index] = byte }
      unsafe header.pointee.textLength += utf8.count
      return Int32(start)..<Int32(start + utf8.count)
    }

    func append(_ event: ScheduleEvent, _ text: String? = nil) {
      var event = event
      if let text { event.text = keep(text) }
      if event.kind != .note { unsafe header.pointee.points += 1 }
      if event.options != 0 { unsafe header.pointee.steps += 1 }
      // Not the objects: memory that was freed may be another's, or not.
      let who = UInt64(event.kind.rawValue) | UInt64(event.member) << 8 | UInt64(event.chosen) << 16
      let parts = [who, event.options, UInt64(event.line)]
      for part in parts { unsafe header.pointee.hash = (header.pointee.hash ^ part) &* 0x0100_0000_01B3 }
      guard unsafe header.pointee.count < Self.mostEvents else { return }
      unsafe (list + header.pointee.count).initialize(to: event)
      unsafe header.pointee.count += 1
    }

    func fail(_ reason: String) { unsafe header.pointee.failure = keep(reason) }
  }
#endif
