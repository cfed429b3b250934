/// The server's end of a disk, or of a file that serves as one: asks for one request after the other, and answers each.
protocol DiskConnection: Sendable {
  /// Waits for the next request.
  func next() throws(ConnectionEnded) -> DiskRequest
  func answer(_ request: DiskRequest, _ data: [UInt8]) throws(ConnectionEnded)
}

extension DiskConnection {
  func answer(_ request: DiskRequest) throws(ConnectionEnded) { try answer(request, []) }
}

/// What a disk is asked for.
struct DiskRequest {
  enum Kind {
    case read(count: Int)
    /// - Parameter isDurable: it is on stable storage once it is answered.
    case write([UInt8], isDurable: Bool)
    case flush
  }
  let kind: Kind
  let offset: Int
  /// What the answer repeats.
  let cookie: UInt64
}

/// The other side is gone, says nothing for too long, or says what it should not.
struct ConnectionEnded: Error {}
