// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed. The caller's function is called during its call only, with what it gave for it.

import CEsker
import EskerLog

/// See `esker_verify` in esker.h.
@c(esker_verify)
package func verify(
  _ store: OpaquePointer?,
  _ progress: esker_progress?,
  _ context: UnsafeMutableRawPointer?,
  _ report: UnsafeMutablePointer<esker_verify_report>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ length: UnsafeMutablePointer<Int>?
) -> esker_status {
  unsafe json?.pointee = nil
  unsafe length?.pointee = 0
  return unsafe calling(store, LogStore.self) { store in
    try unsafe fill(report, esker_verify_report())
    let found = try store.verify { share in
      guard let progress = unsafe progress else { return true }
      return unsafe progress(context, share) == 0
    }
    if let json = unsafe json { try unsafe JSONText(found).handOut(json, length) }
    func sum(_ count: KeyPath<Report.Verification.Damage, Int>) -> UInt64 {
      UInt64(clamping: found.damage.reduce(0) { $0 + $1[keyPath: count] })
    }
    try unsafe fill(
      report,
      esker_verify_report(
        size: 0,
        files: UInt64(found.files),
        bytes: UInt64(found.bytes),
        records: UInt64(found.records),
        damaged_ranges: UInt64(found.damage.count),
        damaged_records: sum(\.records),
        lost_records: sum(\.current),
        unknown_records: sum(\.unknown)
      )
    )
    return ESKER_OK
  }
}

extension JSONText {
  /// What a verification has found, with the names that `esker verify --json` has for it.
  fileprivate init(_ found: Report.Verification) {
    self.init()
    object(nil) { text in
      text.field("files", found.files)
      text.field("bytes", found.bytes)
      text.field("records", found.records)
      text.list("damage", found.damage) { text, damage in
        text.field("path", damage.location.path)
        text.field("segment", damage.location.segment)
        text.field("offset", damage.location.offset)
        text.field("length", damage.length)
        text.field("reason", damage.reason)
        text.field("records", damage.records)
        text.field("current", damage.current)
        text.field("unknown", damage.unknown)
      }
    }
  }
}
