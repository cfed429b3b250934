internal import EskerLog

/// What is stored under a key: an envelope and the value behind it, or, if a program other than Esker stored it, a foreign value.
public struct RemoteValue: Hashable, Sendable {
  /// The bytes as they are stored, with the envelope, if there is one.
  public let stored: [UInt8]
  /// The envelope; nil for a foreign value, which has no version.
  public let envelope: RemoteEnvelope?
  /// When the value expires: milliseconds since 1970 by the server's clock, 0 for never.
  public let expiry: UInt64

  /// A value of Esker's.
  public init(_ envelope: RemoteEnvelope, payload: RawSpan) {
    var stored: [UInt8] = []
    stored.reserveCapacity(RemoteEnvelope.length + payload.byteCount)
    envelope.append(to: &stored)
    stored.append(contentsOf: payload)
    self.stored = stored
    self.envelope = envelope
    expiry = envelope.expiry
  }

  /// What was found stored. For a foreign value the expiry is what the server says, or 0 for never.
  public init(stored: [UInt8], foreignExpiry: UInt64 = 0) {
    self.stored = stored
    envelope = stored.withBytes { RemoteEnvelope($0) }
    expiry = envelope?.expiry ?? foreignExpiry
  }

  /// The version; nil for a foreign value.
  public var version: RemoteVersion? { envelope?.version }

  /// The bytes without the envelope.
  public var payload: ArraySlice<UInt8> { envelope == nil ? stored[...] : stored[RemoteEnvelope.length...] }
}
