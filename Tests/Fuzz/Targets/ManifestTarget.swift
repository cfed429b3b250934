import EskerFormat

@testable import EskerLog

extension FuzzTarget {
  /// A manifest. What can be decoded is the same when it is encoded again.
  static let manifest = FuzzTarget(
    name: "manifest",
    longest: 2048,
    repair: { FileRepair.manifest(&$0) },
    samples: {
      [
        "golden": bytes(hex: Golden.manifest),
        "empty": Manifest(storeID: Sample.storeID, seed: Sample.seed).encoded(),
        "history": Sample.manifestWithHistory.encoded(),
      ]
    },
    run: { input in
      guard let manifest = try? Manifest(decoding: input.bytes) else {
        // The history may be all that is wrong.
        _ = try? Manifest(decoding: input.bytes, forgetsHistory: true)
        return
      }
      let again = requireAccepted("an encoded manifest") { try Manifest(decoding: manifest.encoded().span.bytes) }
      require(again == manifest, "\(manifest) became \(again)")
      for row in manifest.segments {
        _ = row.trustedEnd(in: manifest)
        _ = row.layout.mostRecords(in: row.layout.recordsStart..<(row.claimedEnd ?? row.layout.recordsStart))
        _ = row.numbers
      }
      _ = manifest.withoutEvicted { $0 % 2 == 0 }
      require(manifest.history.kept.count <= manifest.history.count, "a history that grows")
      _ = "\(Report.History(manifest.history, isDamaged: false, in: "/store"))"
      _ = "\(Report.Manifest(manifest)) \(Options.Settings(manifest.settings))"
    }
  )

  /// What marks an unfinished backup, restoration or repair.
  static let copyMark = FuzzTarget(
    name: "copy-mark",
    longest: 64,
    repair: FileRepair.ending(at: CopyMark.length),
    samples: { ["golden": bytes(hex: Golden.copyMark)] },
    run: { input in
      guard let mark = try? CopyMark(decoding: input.bytes) else { return }
      let again = requireAccepted("an encoded mark") { try CopyMark(decoding: mark.encoded().span.bytes) }
      require(again == mark, "\(mark) became \(again)")
    }
  )

  /// Published statistics.
  static let statistics = FuzzTarget(
    name: "statistics",
    longest: StatisticsImage.length + 64,
    repair: FileRepair.ending(at: StatisticsImage.length),
    samples: { ["image": Sample.statistics.encoded()] },
    run: { input in
      _ = StatisticsImage.isOurs(input.bytes, of: Sample.storeID)
      guard let image = try? StatisticsImage(decoding: input.bytes) else { return }
      require(StatisticsImage.isOurs(input.bytes, of: image.storeID), "statistics that are of no store")
      let again = requireAccepted("encoded statistics") { try StatisticsImage(decoding: image.encoded().span.bytes) }
      require(again == image, "statistics became others")
      _ = "\(Statistics.Published(image))"
    }
  )
}
