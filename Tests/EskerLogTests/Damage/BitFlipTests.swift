import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct BitFlipTests {
  /// Offsets worth damaging: all that hold something, and every `stride`th of the zeros.
  private func offsets(_ bytes: [UInt8], stride: Int) -> [Int] {
    bytes.indices.filter { bytes[$0] != 0 || $0 % stride == 0 || $0 > 0 && bytes[$0 - 1] != 0 }
  }

  private func expectNone(_ failures: [String]) {
    #expect(failures.isEmpty, "\(failures.count) failures: \(failures.prefix(12).joined(separator: "\n"))")
  }

  @Test func aFlipAnywhereInASmallStoreNeverGivesAWrongValue() throws {
    let store = try DamagedStore()
    var tally = DamageTally()
    for name in store.image.names {
      // The index is checked page by page, so a few bytes of each page stand for all.
      let every = name.hasSuffix(".checkpoint") ? 7 : 1
      for offset in offsets(store.image.files[name] ?? [], stride: 61) where offset % every == 0 {
        let damaged = store.image.flipping(name, offset, bit: offset % 8)
        let outcome = try store.outcome(of: damaged, isThorough: offset % 16 == 0)
        tally.add(outcome, kind: DamagedStore.kind(of: name), "\(name) byte \(offset) bit \(offset % 8)")
      }
    }
    tally.print("flip")
    expectNone(tally.failures)
  }

  @Test func withoutTheCheckpointOnlyAFlipInAHeaderOfTheTailCanExposeAnOlderValue() throws {
    let store = try DamagedStore()
    var image = store.image
    image.files = image.files.filter { !$0.key.hasSuffix(".checkpoint") }
    var tally = DamageTally()
    for name in image.names {
      for offset in offsets(image.files[name] ?? [], stride: 61) {
        let outcome = try store.outcome(of: image.flipping(name, offset, bit: offset % 8), isThorough: offset % 16 == 0)
        tally.add(
          outcome,
          kind: DamagedStore.kind(of: name),
          "\(name) byte \(offset) bit \(offset % 8)",
          mayExpose: store.isOnlyAccount(name, offset, in: image)
        )
      }
    }
    tally.print("flip without checkpoint")
    expectNone(tally.failures)
  }

  @Test func aFlipInAStoreOfSeveralSegmentsStaysInItsRecord() throws {
    let store = try DamagedStore(filler: 6000)
    var images = [("", store.image)]
    images.append((" without checkpoint", store.image))
    images[1].1.files = store.image.files.filter { !$0.key.hasSuffix(".checkpoint") }
    #expect(store.image.names.filter { $0.hasSuffix(".segment") }.count >= 3)
    for (title, image) in images {
      var tally = DamageTally()
      for name in image.names where name.hasSuffix(".segment") {
        let bytes = image.files[name] ?? []
        // The filler's bytes are alike; a few stand for all.
        let places = offsets(bytes, stride: 997).filter { bytes[$0] != 0x5A || $0 % 499 == 0 }
        for offset in places where offset % 7 == 0 {
          let outcome = try store.outcome(
            of: image.flipping(name, offset, bit: (offset / 7) % 8),
            isThorough: offset % 16 == 0
          )
          let what = "\(name) byte \(offset)\(title)"
          tally.add(outcome, kind: "segment", what, mayExpose: store.isOnlyAccount(name, offset, in: image))
        }
      }
      tally.print("flip in several segments\(title)")
      expectNone(tally.failures)
    }
  }

  @Test func flipsInTwoPlacesNeverGiveAWrongValue() throws {
    var generator = SeededGenerator(announcedFor: "flipsInTwoPlacesNeverGiveAWrongValue")
    let store = try DamagedStore()
    var tally = DamageTally()
    let places = store.image.files.mapValues { offsets($0, stride: 4096) }
    for round in 0..<1500 {
      var image = store.image
      var what = ""
      for _ in 0..<2 {
        let name = image.names[Int.random(in: 0..<image.names.count, using: &generator)]
        guard let offset = places[name]?.randomElement(using: &generator) else { continue }
        let bit = Int.random(in: 0..<8, using: &generator)
        image = image.flipping(name, offset, bit: bit)
        what += " \(name) byte \(offset) bit \(bit)"
      }
      tally.add(try store.outcome(of: image, isThorough: round % 16 == 0), kind: "any", what, opens: false)
    }
    tally.print("two flips")
    // A flip in the checkpoint and another in a header of the tail take away both accounts of a record.
    expectNone(tally.failures.filter { !($0.contains(".segment") && $0.contains(".checkpoint")) })
  }

  @Test func aFlipNeverTrapsAReadOnlyOpener() throws {
    let store = try DamagedStore()
    var tally = DamageTally()
    for name in store.image.names {
      for offset in offsets(store.image.files[name] ?? [], stride: 509) where offset % 5 == 0 {
        let damaged = store.image.flipping(name, offset, bit: offset % 8)
        let outcome = try store.outcome(of: damaged, readOnly: true, isThorough: offset % 16 == 0)
        tally.add(outcome, kind: DamagedStore.kind(of: name), "\(name) byte \(offset) bit \(offset % 8)")
      }
    }
    tally.print("flip read only")
    expectNone(tally.failures)
  }
}
