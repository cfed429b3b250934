/// What a composition of a front and a back does with reads and writes.
public struct TierPolicy: Hashable, Sendable {
  /// What is done with what only the back has.
  public enum Pull: Hashable, Sendable {
    /// It is put in the front, then returned.
    case pullThenComplete
    /// It is returned; a thread of Esker's puts it in the front.
    case completeThenPull
    /// The front stays as it is.
    case neverPull
    /// The back is not read at all: it only gets what is written.
    case neverAsk
  }

  /// Where writes go.
  public enum Set: Hashable, Sendable {
    /// To the front, then to the back. If the back refuses, the key is dropped from the front, unless the front alone is read.
    case frontFirst
    /// To the back, then to the front. If the back refuses, nothing has changed; if it fails, so that it may have written all the same,
    /// the key is dropped from the front.
    case backFirst
    /// To the front only: it has what the back will never know.
    case frontOnly
    /// To the back only; the key is dropped from the front.
    case backOnly
  }

  /// What is done with what only the back has.
  public let pull: Pull
  /// Where writes go.
  public let set: Set

  /// A policy from its parts. With `.neverAsk`, the front alone decides what is there: it is written first, or only.
  public init(pull: Pull = .pullThenComplete, set: Set = .backFirst) {
    self.pull = pull
    self.set = pull == .neverAsk && set != .frontOnly ? .frontFirst : set
  }

  /// Whether the front decides what is there, and so whether the condition of a write holds.
  var isLedByFront: Bool { self.set == .frontOnly || pull == .neverAsk }
}
