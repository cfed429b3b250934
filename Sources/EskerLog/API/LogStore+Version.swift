extension LogStore {
  /// The version of Esker that this program contains, as in its changelog: three numbers, and a word behind a hyphen for what is not released.
  ///
  /// For logs and reports. What a version can read does not depend on it: files say what they need. Constant; safe on any thread.
  public static let version = "1.0.0-dev"
}
