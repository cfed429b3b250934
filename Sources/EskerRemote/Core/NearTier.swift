/// Near copies whose trust the core decides about: the memory of a typed view.
///
/// Calls come under the lock of the core. They are quick, do not call the core, and look only at keys of their own.
protocol NearTier: AnyObject, Sendable {
  /// Ends the trust in what is held of a key, unless it has `version`; the copy itself stays.
  func distrust(_ key: RawSpan, unless version: RemoteVersion?, at now: RemoteInstant)

  /// What is held of a key was found to be current in `generation`, if it has `version`.
  func trust(_ key: RawSpan, _ version: RemoteVersion, in generation: UInt32, at now: RemoteInstant)

  /// A write of this process has taken effect: what is held of the key, here and in logs, is older and must not be seen any more.
  func forget(_ key: RawSpan)

  /// A write of this process may have taken effect, or was refused because of something else that is there: what is held of the key,
  /// unless it has `version`, may be older. Until it is found current again, it is at most served when nothing else can be.
  func doubt(_ key: RawSpan, unless version: RemoteVersion?)
}
