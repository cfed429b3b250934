import Esker
import EskerTools

/// The records of a key, current and older.
struct VersionListing {
  private let versions: [KeyVersion]
  private let name: String
  private let inspection: StoreInspection

  init(_ arguments: StoreArguments, _ key: KeyEncodingOption.Given, name: String, _ keyspace: String) throws {
    self.name = name
    inspection = try arguments.inspection()
    let form = inspection.manifest?.keyspaces.first { $0.name == keyspace }?.keyForm
    let key = try key.bytes(in: StoredForm(form, of: .keys), named: form)
    versions = try Self.versions(of: key, in: keyspace, inspection, isQuiet: arguments.quiet)
  }

  private static func versions(
    of key: [UInt8],
    in keyspace: String,
    _ inspection: StoreInspection,
    isQuiet: Bool
  ) throws -> [KeyVersion] {
    Interruption.install()
    let progress = Progress("looking", total: directorySize(inspection.path), isQuiet: isQuiet)
    defer { progress.clear() }
    do {
      return try inspection.versions(of: key, in: keyspace) { progress.goesOn($0) }
    } catch StoreError.invalidKeyspace {
      throw ToolError.noKeyspace(keyspace, path: inspection.path)
    }
  }

  /// Damaged segments, which may contain more records of the key than can be shown.
  private var damaged: [SegmentDescription] { inspection.segments.filter { $0.isListed && !$0.damage.isEmpty } }

  func write(asJSON: Bool, to output: inout BufferedOutput) throws {
    for segment in damaged {
      StandardError.report("damage in \(segment.path): \(segment.damage.joined(separator: "; "))")
    }
    guard !versions.isEmpty else { throw ToolError.noRecord(name) }
    if asJSON {
      for version in versions {
        try output.write(JSONWriter.line { $0.fields(version.record, standing: version.standing.rawValue) })
      }
    } else {
      var table = Table(
        [
          .left("STANDING"), .right("SEGMENT"), .right("OFFSET"), .right("WRITE"), .left("CHECK"), .left("KIND"),
          .right("SIZE", isOptional: true), .right("VALUE", isOptional: true), .left("EXPIRES", isOptional: true),
        ],
        in: .output
      )
      for version in versions { try table.add(row(version), to: &output) }
      try table.flush(to: &output)
    }
    try output.flush()
    if !damaged.isEmpty || versions.contains(where: { $0.record.damage != nil }) { throw ToolError.damageFound }
  }

  private func row(_ version: KeyVersion) -> [Cell] {
    let record = version.record
    return [
      .word(version.standing.rawValue, version.standing == .current ? .good : .faint),
      .number(record.segment),
      .number(UInt64(record.offset)),
      .number(record.sequence.rawValue),
      RecordRow.check(record),
      .word(record.kind.rawValue),
      .size(record.size),
      record.kind == .put ? RecordRow.value(record) : .none,
      RecordRow.expiry(record),
    ]
  }
}
