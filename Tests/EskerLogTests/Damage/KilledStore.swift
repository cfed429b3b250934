import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A store that a kill left: a merged segment, a sealed one, two that are full and not sealed yet, the tail, a spare one.
struct KilledStore {
  let image: DiskImage
  let rows: [SegmentRow]
  let keys: Int

  /// Rows of segments that are full and not sealed.
  var full: [SegmentRow] { rows.filter { $0.state == .active && $0.recordsEnd != 0 } }
  var sealed: SegmentRow? { rows.first { $0.kind == .log && $0.state == .sealed } }

  /// - Parameter hasCheckpoint: Whether the tail is all that a checkpoint does not have.
  init(hasCheckpoint: Bool = false) throws {
    let disk = SimulatedDisk()
    let clock = FakeClock()
    let plan = FaultPlan()
    var options = Machine().options()
    options.clock = Options.Clock(clock)
    options.merge.isAutomatic = false
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(disk, plan: plan), clock: clock)
    let store = try LogStore(at: "/store", options: options, host: StoreHost(platform: platform, background: .inline))
    func put(_ range: Range<Int>) throws {
      for number in range {
        try store.put([UInt8](repeating: UInt8(number & 127), count: 700), forKey: "key \(number)")
      }
    }
    try put(0..<80)
    try put(0..<40)
    try store.merge()
    try put(80..<200)
    // Only of a segment that is full a footer is written.
    let probe = store.probe
    let footers = FileMatch { path in
      path.hasSuffix(".segment") && probe.segments.contains { $0.path == path && $0.isSealed }
    }
    plan.fail(.write, on: footers, sticky: true, .error(PlatformError.inputOutput))
    try put(200..<470)
    if hasCheckpoint {
      probe.writeCheckpoint()
      try put(470..<475)
    }
    keys = try store.count()
    var machine = Machine()
    machine.disk = try disk.processKilled()
    image = try DiskImage(of: machine)
    plan.heal()
    try store.close()
    let bytes = try #require(image.files["manifest.a"])
    let other = try #require(image.files["manifest.b"])
    let copies = try [
      Manifest(decoding: ContiguousArray(bytes).span.bytes), Manifest(decoding: ContiguousArray(other).span.bytes),
    ]
    rows = copies.max { $0.generation < $1.generation }?.segments ?? []
  }
}
