internal import EskerFormat
internal import EskerPlatform

/// A value where it lies, alive as long as this object.
@usableFromInline @safe
struct ValueLease {
  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline let version: SequenceNumber
  @usableFromInline let expiry: Expiry
  private let owner: Segment?

  init(_ record: RecordView, keptAliveBy owner: Segment?) {
    unsafe bytes = record.value
    version = SequenceNumber(rawValue: record.sequence)
    expiry = record.expiry == .max ? .never : .at(WallTime(millisecondsSince1970: record.expiry))
    self.owner = owner
  }
}
