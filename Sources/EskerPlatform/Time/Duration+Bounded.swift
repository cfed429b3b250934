extension Duration {
  /// The same, but a century at most. Durations that are meant as forever would overflow where they are added to a time or slept for.
  package var bounded: Duration { min(self, .seconds(100 * 366 * 86_400)) }
}
