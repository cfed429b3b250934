import EskerLog

/// The last process of a round: opens what is left and looks whether all that was acknowledged is there.
struct CheckerRole {
  private let assignment: Assignment

  init(_ assignment: Assignment) {
    self.assignment = assignment
  }

  func run() {
    do {
      let scene = try Scene(assignment, who: "checker")
      let opened = scene.expectNoError("opening throws", "the last opening") {
        try LogStore(at: scene.storePath, options: scene.options(readOnly: false))
      }
      guard let store = opened else { return }
      let done = scene.scripts.indices.map { scene.ledger.done($0) }
      _ = Look.state(of: store, scene, subject: "reopened store", floor: done)
      Verification.run(scene, store, "the store in the end")
      _ = scene.expectNoError("merge throws", "the last merge") { try store.merge() }
      _ = Look.state(of: store, scene, subject: "merged store", floor: done)
      _ = scene.expectNoError("closing throws", "the last close") { try store.close() }
    } catch {
      StandardStreams.complain("checker: \(error)")
      exitProcess(3)
    }
  }
}
