internal import EskerLog

/// A store on other machines: the seam between the coherence of tiers and a client such as that of Redis clusters.
///
/// Keys belong to *domains*: the slots of a cluster, or one domain for a single server. Each domain has one owner at a time, and the
/// store tells the sink of each change of its keys. A *generation* is a number of a domain; it is raised whenever something that was
/// learnt before may have changed without a notice. A *lease* is the time until which changes are known to be reported.
///
/// ## What is ordered by what
/// The implementation guarantees, for each domain:
/// 1. **One sequence.** All replies of one generation, and all changes, come over one connection. The store calls completions and
///    ``RemoteSink/changed(_:domain:at:)`` in the order of the messages on it, one at a time: the next call begins after the former has
///    returned. Stamps grow in that order, strictly from one message to the next. If a reply shows a newer value than a change that is
///    told later, the change comes all the same; a reply never shows an older value than a change that was reported before it.
/// 2. **Generation at sending.** A reply's stamp has the generation that its domain had when the request was last written to the
///    connection. A request that is sent again after a redirect has the newer one. So has a write whose reply is still awaited when
///    another connection takes the place of its own, if the owner stays the same; its reply has `isKeepable` false.
/// 3. **Raise first.** ``RemoteSink/raised(_:to:)`` returns before a request is sent in the new generation, before a lease of it is
///    granted, and before a completion is called whose error is the reason for the raise (a redirect, a lost connection). It may come
///    from any thread. A change that is reported by a node that does not own the domain raises it too, and so does everything that may have
///    swallowed changes: overflow, a reply that cannot be parsed, a server that forgot to tell them. Replies of the older generation may still be delivered afterwards; their stamps tell.
/// 4. **A lease counts from sending.** ``RemoteSink/trusted(_:in:until:)`` is called when the owner has answered, by a keyed read, that
///    it serves the domain, that its configuration is the known one, and that it tells changes to this connection. The lease is shorter
///    than the time after which another node may take writes.
/// 5. **Requests wait for a lease.** Reads of the owner and all writes are sent only while their domain has a lease. Without one they
///    wait, at most until their deadline, and then fail with ``RemoteError/unavailable(until:)``; or they fail with it at once. Replies
///    that come after the lease is over are delivered, with `isKeepable` false.
/// 6. **Connecting.** Before the first request of a connection is sent, the server has been told to tell changes, and every connection
///    that was lost before has been ended *at the server*: the last one, and those before it of which it is not known that they were
///    ended, since the connection that should have done so may itself have been cut too early.
/// 7. **Once.** Each completion is called exactly once, and not long after the deadline: a read then fails with
///    ``RemoteError/timedOut``, a write that was not sent too, a write that was sent with ``RemoteError/unknownOutcome``. Then
///    ``RemoteSink/settled(_:_:)`` is called once, when the reply comes, or with ``RemoteOutcome/lost`` when the connection is gone,
///    after the raise. When a connection is lost: first the raise, then the completions, then the settlings.
/// 8. **Writes are not repeated** unless the server's answer proves that they were not executed.
///
/// A completion may be called before the request returns, on the caller's thread, if nothing was sent. Completions and calls of the sink
/// never wait, and may make requests. All functions may be called from any thread.
public protocol RemoteStore: AnyObject, Sendable {
  /// How many domains there are: 1, or 16,384 for a cluster.
  var domainCount: Int { get }

  /// The largest value, with its envelope, that the store takes.
  var valueLimit: Int { get }

  /// Connects, and tells the sink of each domain: first its generation, then its lease. Returns when every domain has had a lease.
  ///
  /// Called once: another call throws ``RemoteError/unsupported(_:)``. What could not be reached is tried again in the background, also
  /// after an error, until the store is stopped; an error means that nothing was reached within the store's own time limit. If the task
  /// is cancelled, the store stops and throws ``RemoteError/stopped``.
  ///
  /// - Parameters:
  ///   - prefix: Stands before every key on the server, and the core never sees it. Keys of other prefixes are not reported.
  ///   - sink: Kept until ``stop()`` has returned.
  func start(prefix: [UInt8], sink: any RemoteSink) async throws(RemoteError)

  /// Ends all connections. Every request is completed before it returns, and the sink is not called afterwards.
  func stop() async

  /// The domain of a key without its prefix, below ``domainCount``. Always the same for the same key. Allocates nothing.
  func domain(of key: RawSpan) -> UInt16

  /// The clock of the domain's owner, by which values expire; nil before it is known.
  func time(of domain: UInt16) -> ServerTime?

  /// Reads what is under a key; nil if there is nothing.
  func get(
    _ key: RemoteKey,
    from source: RemoteSource,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteValue?>
  )

  /// Asks whether what is under a key still has a version. The answer is small if it has.
  func check(
    _ key: RemoteKey,
    _ version: RemoteVersion,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteChecked>
  )

  /// Reads what is under each of several keys. `each` is called once for each, with its index, in the order of rule 1.
  func get(
    several keys: [RemoteKey],
    by deadline: RemoteInstant,
    each: @escaping @Sendable (Int, Result<Stamped<RemoteValue?>, RemoteError>) -> Void
  )

  /// Checks each of several keys. `each` is called once for each, with its index, in the order of rule 1.
  func check(
    several keys: [(key: RemoteKey, version: RemoteVersion)],
    by deadline: RemoteInstant,
    each: @escaping @Sendable (Int, Result<Stamped<RemoteChecked>, RemoteError>) -> Void
  )

  /// Stores a value that has an envelope; the server removes it at the envelope's expiry.
  ///
  /// The core has at most one write of a key under way.
  func set(
    _ key: RemoteKey,
    _ value: RemoteValue,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  )

  /// Removes what is under a key.
  func remove(
    _ key: RemoteKey,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  )

  /// Gives the value that is there another life: its envelope gets the expiry and version of `envelope`, and the server's own expiry is
  /// set to it. The flags and the value stay. Refused where there is nothing, or something foreign.
  func touch(
    _ key: RemoteKey,
    _ envelope: RemoteEnvelope,
    if condition: RemoteCondition,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteWritten>
  )

  /// Replays a write that waited in a queue, in one atomic step:
  /// - what is there has the intent's own version, or the intent is a removal and nothing is there: `already`;
  /// - what is there is the intent's base: it is applied;
  /// - otherwise the later of the two versions wins, by ``RemoteVersion/isLater(than:)``. Where there is nothing, or something foreign,
  ///   that counts as later.
  func apply(
    _ key: RemoteKey,
    _ intent: RemoteIntent,
    as write: RemoteWriteID,
    by deadline: RemoteInstant,
    then completion: @escaping RemoteCompletion<RemoteApplied>
  )

  /// Reads of ``RemoteSource/any`` will come: the store begins to note what it takes to show how current a replica is. May be called
  /// before ``start(prefix:sink:)``, and more than once.
  func observeReplicas()

  /// Waits until the writes to the key's owner that have completed are on `count` replicas; gives how many have them, which are fewer
  /// if the deadline comes first, or fails with ``RemoteError/timedOut`` if that is not known then.
  func replicated(
    _ key: RemoteKey,
    to count: Int,
    by deadline: RemoteInstant,
    then completion: @escaping @Sendable (Result<Int, RemoteError>) -> Void
  )
}

extension RemoteStore {
  /// A key of this store.
  public func key(_ bytes: [UInt8]) -> RemoteKey { RemoteKey(bytes, domain: bytes.withBytes { domain(of: $0) }) }
}

// MARK: Defaults

extension RemoteStore {
  /// One request for each key.
  public func get(
    several keys: [RemoteKey],
    by deadline: RemoteInstant,
    each: @escaping @Sendable (Int, Result<Stamped<RemoteValue?>, RemoteError>) -> Void
  ) {
    for (index, key) in keys.enumerated() { get(key, from: .owner, by: deadline) { each(index, $0) } }
  }

  /// One request for each key.
  public func check(
    several keys: [(key: RemoteKey, version: RemoteVersion)],
    by deadline: RemoteInstant,
    each: @escaping @Sendable (Int, Result<Stamped<RemoteChecked>, RemoteError>) -> Void
  ) {
    for (index, item) in keys.enumerated() { check(item.key, item.version, by: deadline) { each(index, $0) } }
  }

  /// Nothing: no reply will say how current it is.
  public func observeReplicas() {}

  /// Not supported.
  public func replicated(
    _ key: RemoteKey,
    to count: Int,
    by deadline: RemoteInstant,
    then completion: @escaping @Sendable (Result<Int, RemoteError>) -> Void
  ) {
    completion(.failure(.unsupported("wait for replicas")))
  }
}
