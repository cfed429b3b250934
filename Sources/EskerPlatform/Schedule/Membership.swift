#if SCHEDULES
  import CEskerShims

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// Which member of the run the calling thread is.
  ///
  /// Safety: what looks like an address is the member's number plus one. Nobody follows it. The key is made once, and never deleted.
  enum Membership {
    private static let key = {
      var key = pthread_key_t()
      let code = unsafe pthread_key_create(&key, nil)
      precondition(code == 0, "there is no room for a value of each thread")
      return key
    }()

    static var current: Int? {
      let number = unsafe UInt(bitPattern: pthread_getspecific(key))
      return number == 0 ? nil : Int(number) - 1
    }

    static func enter(_ member: Int) { unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: member + 1)) }

    static func leave() { pthread_setspecific(key, nil) }
  }

  /// A member that is about to be there.
  final class Newcomer: Sendable {
    let index: Int
    let turn = Turn()
    /// Given by the new thread: it is there, and waits for its turn.
    let arrival = Turn()

    init(index: Int) {
      self.index = index
    }
  }

  /// What a member waits on for its turn.
  ///
  /// Safety: the word is never freed. Only C's atomics and the kernel touch it.
  @safe
  final class Turn: @unchecked Sendable {
    private let word: UnsafeMutableRawPointer
    private var turns: UInt32 = 0

    init() {
      unsafe word = .allocate(byteCount: 4, alignment: 4)
      unsafe word.storeBytes(of: 0, as: UInt32.self)
    }

    /// Sleeps until the next turn.
    func await() {
      while unsafe esker_word_load(word) == turns { unsafe esker_word_wait(word, turns) }
      turns &+= 1
    }

    func give() {
      unsafe esker_word_advance(word)
      unsafe esker_word_wake(word, false)
    }
  }
#endif
