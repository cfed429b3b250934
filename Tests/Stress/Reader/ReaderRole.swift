import EskerLog
import EskerPlatform
import EskerTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A process that opens the store read-only beside the writer: anew each time, or once, and follows.
struct ReaderRole {
  private let assignment: Assignment
  private let parent = getppid()

  init(_ assignment: Assignment) {
    self.assignment = assignment
  }

  func run() {
    let isOpener = assignment.participant <= assignment.configuration.openers
    do {
      let who = isOpener ? "opener" : "follower"
      let scene = try Scene(assignment, who: "\(who) \(assignment.participant)")
      var opener = Opener(scene)
      while scene.ledger[.isOver] == 0 {
        scene.ledger.beat(scene.participant)
        if getppid() != parent { exitProcess(4) }
        if isOpener { opener.next() } else { try Follower(scene, parent).run() }
      }
    } catch {
      StandardStreams.complain("reader: \(error)")
      exitProcess(3)
    }
  }
}
