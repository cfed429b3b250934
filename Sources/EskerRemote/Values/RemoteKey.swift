/// A key of a remote store, and the domain that the store says it belongs to.
///
/// Bytes that begin with one `#` are the client's own: `#hb:`, `#lock:` and `#tag:`. A user's key that begins with `#` gets another one
/// in front before it comes here.
public struct RemoteKey: Hashable, Sendable {
  /// The key without the prefix of the store.
  public let bytes: [UInt8]
  /// What ``RemoteStore/domain(of:)`` says of the bytes.
  public let domain: UInt16

  /// A key; `domain` must be what the store says of the bytes.
  public init(_ bytes: [UInt8], domain: UInt16) {
    self.bytes = bytes
    self.domain = domain
  }
}
