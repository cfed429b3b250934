internal import EskerLog

/// What is stored under a key: an envelope and the value behind it, or, if a program other than Esker stored it, a foreign value.
public struct RemoteValue: Hashable, Sendable {
  /// The bytes as they are stored, with the envelope, if there is one.
  public let stored: [UInt8]
  /// The envelope; nil for a foreign value, which has no version.
  public let envelope: RemoteEnvelope?
  /// The tags that the value has.
  public let tags: [RemoteTag]
  private let payloadStart: Int
  /// When the value expires: milliseconds since 1970 by the server's clock, 0 for never.
  public let expiry: UInt64

  /// A value of Esker's. The envelope says of itself whether there are tags.
  public init(_ envelope: RemoteEnvelope, tags: [RemoteTag] = [], payload: RawSpan) {
    var envelope = envelope
    if tags.isEmpty { envelope.flags.remove(.tagged) } else { envelope.flags.insert(.tagged) }
    var stored: [UInt8] = []
    stored.reserveCapacity(RemoteEnvelope.length + payload.byteCount)
    envelope.append(to: &stored)
    if !tags.isEmpty { tags.append(to: &stored) }
    payloadStart = stored.count
    stored.append(contentsOf: payload)
    self.stored = stored
    self.envelope = envelope
    self.tags = tags
    expiry = envelope.expiry
  }

  /// What was found stored. For a foreign value the expiry is what the server says, or 0 for never. A list of tags that makes no sense
  /// is foreign too.
  public init(stored: [UInt8], foreignExpiry: UInt64 = 0) {
    self.stored = stored
    let head = stored.withBytes { bytes -> (envelope: RemoteEnvelope, tags: [RemoteTag], length: Int)? in
      guard let envelope = RemoteEnvelope(bytes) else { return nil }
      guard envelope.flags.contains(.tagged) else { return (envelope, [], RemoteEnvelope.length) }
      let list = [RemoteTag].parse(bytes.extracting(RemoteEnvelope.length..<bytes.byteCount))
      return list.map { (envelope, $0.tags, RemoteEnvelope.length + $0.length) }
    }
    envelope = head?.envelope
    tags = head?.tags ?? []
    payloadStart = head?.length ?? 0
    expiry = envelope?.expiry ?? foreignExpiry
  }

  /// The version; nil for a foreign value.
  public var version: RemoteVersion? { envelope?.version }

  /// Whether the first bytes are those of an envelope, of a later version of Esker too.
  var beginsAsEnvelope: Bool { stored.starts(with: RemoteEnvelope.magic) }

  /// The bytes without the envelope and the tags.
  public var payload: ArraySlice<UInt8> { stored[payloadStart...] }
}
