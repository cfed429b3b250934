import Esker
import EskerTools

extension StoreOverview {
  /// One JSON object and a newline. Scripts rely on the names: add fields, but never rename or drop one.
  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("path", inspection.path)
    writer.field("writerProcess", self.writer.map { Int($0) })
    writer.name("manifest")
    if let manifest = inspection.manifest { add(manifest, to: &writer) } else { writer.null() }
    writer.name("manifestCopies")
    writer.beginArray()
    for copy in inspection.manifestCopies {
      writer.beginObject()
      writer.field("path", copy.path)
      writer.field("generation", copy.generation)
      writer.field("damage", copy.damage)
      writer.endObject()
    }
    writer.endArray()
    writer.field("openError", openError?.description)
    writer.name("segments")
    writer.beginArray()
    for segment in inspection.segments { add(segment, to: &writer) }
    writer.endArray()
    writer.endObject()
    writer.newline()
    return writer.bytes
  }

  private func add(_ manifest: Report.Manifest, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("generation", manifest.generation)
    writer.field("storeID", manifest.storeID)
    writer.field("open", manifest.isOpen)
    writer.field("durableSequence", manifest.durableSequence.rawValue)
    writer.field("nextSequence", manifest.nextSequence.rawValue)
    writer.field("mergedThrough", manifest.mergedThrough.rawValue)
    writer.field("time", timestamp(manifest.time))
    writer.field("nextSegment", manifest.nextSegment)
    writer.field("checkpoint", manifest.checkpoint)
    writer.field("settings", manifest.settings)
    writer.name("keyspaces")
    writer.beginArray()
    for keyspace in manifest.keyspaces {
      writer.beginObject()
      writer.field("id", UInt64(keyspace.id))
      writer.field("name", keyspace.name)
      writer.field("incarnation", UInt64(keyspace.incarnation))
      writer.field("defaultExpirySeconds", keyspace.defaultExpiry?.seconds)
      writer.field("keyForm", keyspace.keyForm)
      writer.field("valueForm", keyspace.valueForm)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }

  private func add(_ segment: SegmentDescription, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("id", segment.id)
    writer.field("path", segment.path)
    writer.field("kind", segment.kind?.rawValue)
    writer.field("listed", segment.isListed)
    writer.field("sealed", segment.isSealed)
    writer.field("created", segment.created.map { timestamp($0) })
    writer.field("fileBytes", segment.fileBytes)
    writer.field("recordBytes", segment.recordBytes)
    writer.field("footerBytes", segment.footerBytes)
    writer.field("dictionaryBytes", segment.dictionaryBytes)
    writer.field("unpackedBytes", segment.unpackedBytes)
    writer.field("freeBytes", segment.freeBytes)
    writer.field("firstSequence", segment.sequences?.lowerBound)
    writer.field("lastSequence", segment.sequences?.upperBound)
    writer.field("firstExpiry", segment.expiries.map { timestamp($0.lowerBound) })
    writer.field("lastExpiry", segment.expiries.map { timestamp($0.upperBound) })
    writer.name("damage")
    writer.beginArray()
    for damage in segment.damage { writer.value(damage) }
    writer.endArray()
    writer.name("usage")
    if let figures = usage?.segments[segment.id] { writer.value(figures) } else { writer.null() }
    writer.endObject()
  }
}

extension JSONWriter {
  /// A breakdown of record bytes.
  mutating func value(_ figures: Statistics.Usage.Figures) {
    beginObject()
    for (name, amount) in [
      ("lasting", figures.lasting), ("expiring", figures.expiring), ("expired", figures.expired),
      ("tombstones", figures.tombstones), ("dead", figures.dead),
    ] {
      field(name + "Records", amount.records)
      field(name + "Bytes", amount.bytes)
    }
    endObject()
  }
}
