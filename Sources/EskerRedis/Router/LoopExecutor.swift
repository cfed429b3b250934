#if Redis
  internal import EskerPlatform
  internal import NIOCore

  /// Runs tasks on the client's loop, in turns: what replies resume runs when they have been read, and what that asks for goes out
  /// together.
  ///
  /// Safety: a job runs once, on the loop: it is taken under the lock.
  final class LoopExecutor: TaskExecutor, @unchecked Sendable {
    private struct State {
      var jobs: [UnownedJob] = []
      /// Whether the loop is going to look.
      var isAwaited = false
    }

    private let state = Guarded(State(), .leaf)
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let isFirst = state.withLock { state in
        state.jobs.append(job)
        defer { state.isAwaited = true }
        return !state.isAwaited
      }
      if isFirst { loop.execute { self.run() } }
    }

    /// Announces a call of ``run()``, so that other threads need not wake the loop.
    func expect() { state.withLock { $0.isAwaited = true } }

    /// Runs what is there. What comes meanwhile runs in the next turn, so that tasks that yield do not keep the loop from its work.
    func run() {
      let jobs = state.withLock { state in
        state.isAwaited = false
        defer { state.jobs = [] }
        return state.jobs
      }
      for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
#endif
