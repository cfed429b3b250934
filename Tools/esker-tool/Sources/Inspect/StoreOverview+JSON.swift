import Esker
import EskerTools

extension StoreOverview {
  /// One JSON object and a newline. Scripts rely on the names: add fields, but never rename or drop one.
  func json() -> [UInt8] {
    JSONWriter.line { writer in
      writer.field("path", inspection.path)
      writer.field("writerProcess", self.writer.map { Int($0) })
      writer.object("manifest", of: inspection.manifest) { $0.fields($1) }
      writer.list("manifestCopies", inspection.manifestCopies) { writer, copy in
        writer.field("path", copy.path)
        writer.field("generation", copy.generation)
        writer.field("damage", copy.damage)
      }
      writer.field("openError", openError?.description)
      writer.list("segments", inspection.segments) { writer, segment in
        writer.fields(segment)
        writer.field("usage", usage?.segments[segment.id])
      }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func fields(_ manifest: Report.Manifest) {
    field("generation", manifest.generation)
    field("storeID", manifest.storeID)
    field("open", manifest.isOpen)
    field("durableSequence", manifest.durableSequence.rawValue)
    field("nextSequence", manifest.nextSequence.rawValue)
    field("mergedThrough", manifest.mergedThrough.rawValue)
    field("time", manifest.time)
    field("nextSegment", manifest.nextSegment)
    field("checkpoint", manifest.checkpoint)
    field("settings", manifest.settings)
    list("keyspaces", manifest.keyspaces) { writer, keyspace in
      writer.field("id", UInt64(keyspace.id))
      writer.field("name", keyspace.name)
      writer.field("incarnation", UInt64(keyspace.incarnation))
      writer.field("defaultExpirySeconds", keyspace.defaultExpiry?.seconds)
      writer.field("keyForm", keyspace.keyForm)
      writer.field("valueForm", keyspace.valueForm)
    }
  }

  fileprivate mutating func fields(_ segment: SegmentDescription) {
    field("id", segment.id)
    field("path", segment.path)
    field("kind", segment.kind?.rawValue)
    field("listed", segment.isListed)
    field("sealed", segment.isSealed)
    field("created", segment.created)
    field("fileBytes", segment.fileBytes)
    field("recordBytes", segment.recordBytes)
    field("footerBytes", segment.footerBytes)
    field("dictionaryBytes", segment.dictionaryBytes)
    field("unpackedBytes", segment.unpackedBytes)
    field("freeBytes", segment.freeBytes)
    field("firstSequence", segment.sequences?.lowerBound)
    field("lastSequence", segment.sequences?.upperBound)
    field("firstExpiry", segment.expiries?.lowerBound)
    field("lastExpiry", segment.expiries?.upperBound)
    name("damage")
    beginArray()
    for damage in segment.damage { value(damage) }
    endArray()
  }

  /// A field whose value is a breakdown of record bytes, or null.
  mutating func field(_ name: String, _ figures: Statistics.Usage.Figures?) {
    object(name, of: figures) { writer, figures in
      for (name, amount) in [
        ("lasting", figures.lasting), ("expiring", figures.expiring), ("expired", figures.expired),
        ("tombstones", figures.tombstones), ("dead", figures.dead),
      ] {
        writer.field(name + "Records", amount.records)
        writer.field(name + "Bytes", amount.bytes)
      }
    }
  }
}
