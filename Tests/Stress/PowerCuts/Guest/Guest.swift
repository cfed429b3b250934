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
    /// In memory: what is known of the round, and where the disk is mounted.
    private static let scene = "/scene"
    private static let disk = "\(scene)/disk"
    private static let device = "/dev/vda"
    /// Seconds that a checker may take.
    private static let patience = 120

    private init() throws(PlatformError) {
      mailbox = try Mailbox()
      mkdir(Self.scene, 0o700)
      mkdir(Self.disk, 0o700)
    }

    static func start() {
      do { try Guest().run() } catch { StandardStreams.complain("guest: \(error)") }
    }

    private func run() {
      mailbox.say("hello")
      while let line = mailbox.hear(), let order = Order(line) {
        switch order.task {
        case .begin: begin(size: 0)
        case .restore(let size): begin(size: size)
        case .write(let milliseconds): onDisk(order) { write(order, milliseconds) }
        case .check: onDisk(order) { check(order, goesOn: false) }
        case .keep: mailbox.put("\(Self.scene)/ledger")
        }
        mailbox.say("done")
      }
    }

    private func begin(size: Int) {
      unlink("\(Self.scene)/ledger")
      if size > 0 { mailbox.take("\(Self.scene)/ledger", size: size) }
    }

    private func onDisk(_ order: Order, _ body: () -> Void) {
      guard mount(Self.device, Self.disk, order.fileSystem, 0, order.mountOptions) == 0 else {
        return mailbox.say("found\tmount fails\tmounting \(order.fileSystem): \(String(cString: strerror(errno)))")
      }
      body()
      for (isIgnored, finding) in (try? FindingsFile(at: "\(Self.scene)/findings").findings) ?? [] where !isIgnored {
        mailbox.say("found\t\(finding.kind)\t\(finding.text)")
      }
      unlink("\(Self.scene)/findings")
      if umount2(Self.disk, 0) != 0 {
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
      Assignment(directory: Self.scene, order.configuration, seed: order.seed, participant: 0, ignored: [])
    }

    /// Some lives of a writer, each closed or killed, on what the disk shows.
    private func write(_ order: Order, _ milliseconds: Int) {
      do {
        let ledger = try Ledger(at: "\(Self.scene)/ledger", threads: order.configuration.threads)
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
