/// Near copies whose trust the core decides about: the memory of a typed view.
///
/// Calls come under the lock of the core. They are quick, do not call the core, and look only at keys of their own.
protocol NearTier: AnyObject, Sendable {
  /// Ends the trust in what is held of a key, unless it has `version`; the copy itself stays.
  func distrust(_ key: RawSpan, unless version: RemoteVersion?, at now: RemoteInstant)

  /// What is held of a key was found to be current in `generation`, if it has `version`.
  func trust(_ key: RawSpan, _ version: RemoteVersion, in generation: UInt32, at now: RemoteInstant)
}
