#if Redis
  internal import NIOCore

  /// Reads pushes in place.
  enum RESPPush {
    /// What an invalidation is about.
    enum Invalidation: Hashable {
      /// `body` was called for each key.
      case keys
      /// The null push: everything.
      case everything
    }

    /// Calls `body` for each key of an invalidation, with bytes that are valid during the call; nil if the push is of another kind.
    static func invalidation(
      _ push: ByteBuffer,
      _ body: (RawSpan) -> Void
    ) throws(WireError) -> Invalidation? {
      var reader = RESPReader(push)
      let (_, header) = try reader.line()
      guard try reader.length(header) == 2, try reader.value() == .bytes(name) else { return nil }
      let (kind, list) = try reader.line()
      guard kind == UInt8(ascii: "*") || kind == UInt8(ascii: "~") else {
        if kind == UInt8(ascii: "_") || kind == UInt8(ascii: "$") { return .everything }
        throw .malformed("invalidation")
      }
      guard let count = try reader.length(list) else { return .everything }
      for _ in 0..<count {
        let (kind, header) = try reader.line()
        guard kind == UInt8(ascii: "$"), let length = try reader.length(header) else {
          throw .malformed("invalidated key")
        }
        let range = try reader.bodyRange(length)
        body(push.readableBytesSpan.extracting(range))
      }
      return .keys
    }

    private static let name = Array("invalidate".utf8)
  }
#endif
