internal import EskerPlatform

// What cannot be read at the moment, because the system refuses the file: on a device that is locked, say. That is no damage.

extension Segment {
  /// Why pages of the mapping show zeros, if the system refuses the file; nil if it does not, or no page was missed.
  ///
  /// One call, where something is wrong already. Like that of a write to the tail, it may be made under the writer's lock.
  var refusal: PlatformError? {
    guard mapping.isFaulted else { return nil }
    return LockRank.apart {
      do throws(PlatformError) {
        _ = try file.bytes(in: 0..<1)
        return nil
      } catch { return error.isDenied ? error : nil }
    }
  }

  /// The error that names damage, unless the system refuses the file.
  ///
  /// Then it is that, and what was missed is read again by the next read of a segment to which nobody stores.
  func damage(_ offset: Int?, key: [UInt8]? = nil, _ reason: String) -> StoreError {
    guard let refusal else { return .damaged(location(offset, key: key), reason: reason) }
    if isSettled { try? mapping.renew() }
    return StoreError(refusal)
  }
}
