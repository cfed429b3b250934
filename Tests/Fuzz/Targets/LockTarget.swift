import EskerFormat
import EskerPlatform
import EskerTestSupport

@testable import EskerLog

extension FuzzTarget {
  /// The words of `LOCK`, as processes read them that do not hold it.
  static let lock = FuzzTarget(
    name: "lock",
    longest: 128,
    samples: {
      var bytes: [UInt8] = []
      for word in [LockFile.magic, 4711, 0, 0, 12, 1, 0, 300] { bytes.append(word) }
      return ["reader": bytes]
    },
    run: { input in
      let disk = SimulatedDisk()
      do {
        let file = try disk.open("/LOCK", .create)
        try file.write(input, at: 0)
        let lock = LockFile(file)
        if let words = try lock.words() { require(words.holder == lock.holder, "two holders") }
        _ = LockFile.edits(in: "/", disk)
        // Nobody holds the lock, so whatever the words say, nobody is waited for.
        _ = try lock.announceReader(disk.platform())
        _ = lock.isHeld(disk)
        lock.close()
      } catch { fatalError("\(error)") }
    }
  )
}
