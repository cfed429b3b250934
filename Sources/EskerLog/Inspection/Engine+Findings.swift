internal import EskerFormat
internal import EskerPlatform

extension Engine {
  /// Keeps what an opening found wrong with the segments. It may have closed a segment where reading ended, so that nobody who
  /// looks at the segments later finds that anything is missing.
  func keepFindings(_ events: [StoreEvent]) {
    findings.withLock { findings in
      for case .damaged(let location, let reason) in events where location.segment != nil {
        findings.append(.init(location: location, length: 0, reason: reason))
      }
    }
  }

  /// Adds what the opening found to a report, as far as the report does not say it already.
  func addFindings(to report: inout VerificationReport) {
    for finding in findings.withLock({ $0 }) where !report.covers(finding.location) && !isReadable(finding.location) {
      report.damage.append(finding)
    }
  }

  /// Whether a record can be read where none could when a store was opened beside its writer, who has come there since.
  private func isReadable(_ location: DamageLocation) -> Bool {
    guard options.readOnly, let offset = location.offset else { return false }
    let segment = segments.withLock { list in list.first { $0.id == location.segment } }
    guard let segment, segment.kind == .log, case .record = segment.readRecord(at: offset, end: .max) else {
      return false
    }
    return segment.view(at: offset, end: .max)?.bodyIsIntact == true
  }
}

extension VerificationReport {
  /// Whether a damaged range of the report holds a place.
  fileprivate func covers(_ location: DamageLocation) -> Bool {
    damage.contains { known in
      guard known.location.path == location.path else { return false }
      guard let start = known.location.offset, let offset = location.offset else { return true }
      return offset == start || (start..<start + known.length).contains(offset)
    }
  }
}
