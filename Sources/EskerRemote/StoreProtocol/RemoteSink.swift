/// What a ``RemoteStore`` tells, in order, to the core that keeps near copies coherent.
///
/// The rules of order are those of ``RemoteStore``. Calls come on the store's threads: they take well under a microsecond, except that
/// observers are told, and never wait. From inside a call the core may make requests of the store, so the store holds no lock meanwhile
/// that its requests take.
public protocol RemoteSink: Sendable {
  /// A key was written, removed, evicted or has expired at its owner, or may have been.
  ///
  /// - Parameters:
  ///   - key: The key without the prefix; valid during the call.
  ///   - domain: The key's domain.
  ///   - stamp: The domain's present generation, and the index of the message. Keys of one message have one index.
  func changed(_ key: RawSpan, domain: UInt16, at stamp: RemoteStamp)

  /// From now on nothing that was learnt in an earlier generation of these domains is known to be current, and their lease is over.
  ///
  /// - Parameters:
  ///   - domains: The domains, which need have no key.
  ///   - generation: Not 0, and greater than any that was reported before for any domain.
  func raised(_ domains: Range<UInt16>, to generation: UInt32)

  /// Changes of these domains are being reported until `instant`, counted from when the question was **sent** whose answer says so.
  ///
  /// Applies only to those of the domains that are still in `generation`. Never shortens a lease.
  func trusted(_ domains: Range<UInt16>, in generation: UInt32, until instant: RemoteInstant)

  /// The lease of these domains is over now, at the latest: a sleep or silence was noticed, or the owner denies. Generations stay.
  /// A later ``trusted(_:in:until:)`` means that the majority was asked meanwhile and the owner is the same, with all its data.
  func suspended(_ domains: Range<UInt16>)

  /// A write that was answered by ``RemoteError/unknownOutcome`` has an outcome. Called exactly once for each such write, after its
  /// completion, and if the connection was lost, after ``raised(_:to:)``.
  func settled(_ write: RemoteWriteID, _ outcome: RemoteOutcome)
}
