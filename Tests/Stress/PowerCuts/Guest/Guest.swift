#if os(Linux)
  import EskerPlatform
  import EskerTestSupport

  #if canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// The program of the virtual machine: does what its host says, until that is gone.
  struct Guest {
    private let mailbox: Mailbox
    private let device: String
    private let loop: LoopDevice?
    /// In memory: what is known of the round, and where the disk is mounted.
    private let scene: String
    private var disk: String { "\(scene)/disk" }
    /// Seconds that a checker may take.
    private static let patience = 120

    /// - Parameter arguments: nothing in a virtual machine; else the directory, and the files that are disk and mailbox.
    static func start(_ arguments: ArraySlice<String>) {
      do {
        let words = Array(arguments)
        guard words.count == 3 else { return try Guest("/scene", "/dev/vda", nil, "/dev/vdb").run() }
        let loop = try LoopDevice(words[1])
        defer { loop.detach() }
        try Guest(words[0], loop.path, loop, words[2]).run()
      } catch {
        StandardStreams.complain("guest: \(error)")
      }
    }

    private init(_ scene: String, _ device: String, _ loop: LoopDevice?, _ mailbox: String) throws(PlatformError) {
      (self.scene, self.device, self.loop) = (scene, device, loop)
      self.mailbox = try Mailbox(at: mailbox)
      mkdir(scene, 0o700)
      mkdir("\(scene)/disk", 0o700)
      symlink(mailbox, "\(scene)/mailbox")
    }

    private func run() {
      mailbox.say("hello")
      while let line = mailbox.hear(), let order = Order(line) {
        switch order.task {
        case .begin: begin(size: 0)
        case .restore(let size): begin(size: size)
        case .write(let milliseconds): onDisk(order) { write(order, milliseconds) }
        case .check: onDisk(order) { check(order, goesOn: false) }
        case .keep: mailbox.put("\(scene)/ledger")
        case .end: return mailbox.say("done")
        }
        mailbox.say("done")
      }
    }

    private func begin(size: Int) {
      unlink("\(scene)/ledger")
      if size > 0 { mailbox.take("\(scene)/ledger", size: size) }
    }

    private func onDisk(_ order: Order, _ body: () -> Void) {
      loop?.forget()
      guard mount(device, disk, order.fileSystem, 0, order.mountOptions) == 0 else {
        return mailbox.say(
          "found\t\(Finding.unmountable)\tmounting \(order.fileSystem): \(String(cString: strerror(errno)))"
        )
      }
      body()
      for (isIgnored, finding) in (try? FindingsFile(at: "\(scene)/findings").findings) ?? [] where !isIgnored {
        mailbox.say("found\t\(finding.kind)\t\(finding.text)")
      }
      unlink("\(scene)/findings")
      if umount2(disk, 0) != 0 {
        mailbox.say("found\tunmount fails\t\(String(cString: strerror(errno)))")
      }
    }

    /// Whether nothing was found.
    @discardableResult
    private func check(_ order: Order, goesOn: Bool) -> Bool {
      let words =
        ["cut-checker", order.floorText, goesOn ? "on" : "off", "\(order.draw)"] + assignment(order).arguments
      return join(words) == .exited(0)
    }

    private func join(_ words: [String]) -> ChildProcess.State {
      guard var process = try? ChildProcess(words[0], words) else { return .exited(-1) }
      let start = ContinuousClock.now
      while process.poll() == .running {
        guard ContinuousClock.now - start < .seconds(Self.patience) else {
          mailbox.say("found\tprocess hangs\tthe checker")
          process.kill()
          break
        }
        pauseThread(microseconds: 200)
      }
      tell(process.state, words[0])
      return process.state
    }

    /// What has found something has written it down and ends with 1.
    private func tell(_ state: ChildProcess.State, _ name: String) {
      switch state {
      case .exited(0), .exited(1), .running: break
      case .exited(let code): mailbox.say("found\tprocess failed\t\(name) ended with \(code)")
      case .signalled(let signal): mailbox.say("found\tprocess died\t\(name) died of signal \(signal)")
      }
    }

    private func assignment(_ order: Order) -> Assignment {
      Assignment(directory: scene, order.configuration, seed: order.seed, participant: 0, ignored: [])
    }

    /// Has the system write some of what was not synced, as it does by itself some seconds later.
    private func startWriteback(_ draw: inout SeededGenerator) {
      let store = "\(disk)/store"
      for name in (try? OSFileSystem().list(store)) ?? [] where draw.oneIn(4) {
        let file = open("\(store)/\(name)", O_RDONLY)
        guard file >= 0 else { continue }
        posix_fadvise(file, 0, 0, Int32(POSIX_FADV_DONTNEED))
        close(file)
      }
    }

    /// Some lives of a writer, each closed or killed, on what the disk shows.
    private func write(_ order: Order, _ milliseconds: Int) {
      do {
        let ledger = try Ledger(at: "\(scene)/ledger", threads: order.configuration.threads)
        // A cut in an earlier round, or a kill, leaves what Esker may tell as cut off.
        ledger[.kills] = 1
        if order.floor != nil, !check(order, goesOn: true) { return }
        var draw = SeededGenerator(seed: order.draw)
        for _ in 0...Int.random(in: 0...2, using: &draw) {
          let life = ledger[.life]
          ledger[.lifeToEnd] = life
          var writer = try ChildProcess("writer", ["writer"] + assignment(order).arguments)
          while ledger[.life] == life, writer.poll() == .running { pauseThread(microseconds: 500) }
          var left = Int.random(in: milliseconds / 4...milliseconds, using: &draw)
          while left > 0, writer.poll() == .running {
            startWriteback(&draw)
            pauseThread(microseconds: 1000)
            left -= 1
          }
          if draw.oneIn(2) {
            writer.kill()
          } else {
            ledger[.lifeToEnd] = life + 1
            tell(writer.join(), "the writer")
          }
          if case .exited(1) = writer.state { return }
        }
        let written = (0..<order.configuration.threads).map { "\(ledger.done($0))" }
        mailbox.say("written\t\(written.joined(separator: ","))")
      } catch {
        mailbox.say("found\tprocess failed\t\(error)")
      }
    }
  }
#endif
