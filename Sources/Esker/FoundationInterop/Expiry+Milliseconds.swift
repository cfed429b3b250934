extension Expiry {
  /// Milliseconds since 1970, `Int64.max` for never; nil where it counts from a write that nobody knows.
  @inlinable
  var milliseconds: Int64? {
    switch self {
    case .never: .max
    case .at(let end): end.millisecondsSince1970
    case .after: nil
    }
  }

  @inlinable
  init(milliseconds: Int64) {
    self = milliseconds == .max ? .never : .at(WallTime(millisecondsSince1970: milliseconds))
  }

  /// The same with an instant in place of a duration, which counts from `now`: what a storage keeps that is written with it.
  public func resolved(at now: WallTime) -> Expiry {
    guard case .after(let duration) = self else { return self }
    return .at(now.advanced(by: duration))
  }
}
