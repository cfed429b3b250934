import CEskerShims

/// A thread of the operating system for work that may block: file I/O does not belong on Swift's cooperative pool.
///
/// Signals meant for the program are not delivered to it. Safe to use from any thread.
public final class WorkerThread: Sendable {
  private struct State {
    var handle: esker_thread?
  }

  private final class Start: Sendable {
    let name: String
    let givesWay: Bool
    let body: @Sendable () -> Void
    #if SCHEDULES
      let member: Newcomer?
    #endif

    init(name: String, givesWay: Bool, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.givesWay = givesWay
      self.body = body
      #if SCHEDULES
        member = Schedule.newcomer
      #endif
    }
  }

  private let state: Guarded<State>
  /// Also once it has ended.
  private let identity: esker_thread
  #if SCHEDULES
    private let member: Newcomer?
  #endif

  /// Starts a thread that runs `body` once.
  ///
  /// `name` shows in debuggers; Linux keeps its first 15 bytes. A thread that gives way gets a small share of processor time
  /// only when there are more threads to run than processors. Throws the system's error if no more threads can be created.
  public init(
    name: String,
    givesWay: Bool = false,
    _ body: @escaping @Sendable () -> Void
  ) throws(PlatformError) {
    #if SCHEDULES
      member = Schedule.willStart(name)
    #endif
    // Safety: the thread's body takes over the one reference that is passed here; if no thread starts, this function
    // releases it. The call fills a local with the handle.
    let start = unsafe Unmanaged.passRetained(Start(name: name, givesWay: givesWay, body: body))
    var handle = esker_thread()
    let code = unsafe esker_thread_start(
      &handle,
      { context in
        #if SCHEDULES
          unsafe Schedule.begin(Unmanaged<Start>.fromOpaque(context).takeUnretainedValue().member)
          // What the thread owns is released before.
          defer { Schedule.end() }
        #endif
        let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        unsafe esker_thread_set_name(start.name)
        if start.givesWay { esker_thread_give_way() }
        start.body()
      },
      start.toOpaque()
    )
    if code != 0 {
      unsafe start.release()
      throw PlatformError("start the thread", path: name, code: code)
    }
    identity = handle
    state = Guarded(State(handle: handle), .thread)
    #if SCHEDULES
      Schedule.didStart(member, handle)
    #endif
  }

  /// Whether the calling thread is a worker thread of any owner.
  public static var isCurrentThread: Bool { esker_thread_is_started_here() }

  deinit {
    #if SCHEDULES
      if member != nil { return }
    #endif
    // The last reference may be released on the thread itself, which cannot join itself.
    state.withLock { state in
      if let handle = state.handle { _ = esker_thread_detach(handle) }
      state.handle = nil
    }
  }

  /// Whether this is the calling thread.
  public var isCurrent: Bool { esker_thread_is_current(identity) }

  /// Waits until the thread has ended. Idempotent. Must not be called on the thread itself.
  public func join() {
    #if SCHEDULES
      if let member { return Schedule.join(member) }
    #endif
    state.withLock { state in
      guard let handle = state.handle else { return }
      precondition(!esker_thread_is_current(handle), "a thread cannot wait for its own end")
      _ = esker_thread_join(handle)
      state.handle = nil
    }
  }
}
