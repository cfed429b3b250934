/// One small change to a file that is probably a mistake.
///
/// It is made of insertions only, none of which begins a line: so mutants may lie in each other, and lines keep their numbers. In what
/// is inserted, `isPlanted` says whether the mutant is on.
struct Mutant: Encodable {
  let kind: Kind
  let line: Int
  /// The last line that it spans; what the compiler says about the lines may be due to it.
  let lastLine: Int
  /// What it does, for people.
  let change: String
  let wraps: [Wrap]

  enum Kind: String, Encodable {
    case dropStatement, turnCondition, offByOne, swapCalls
  }

  /// Text around a part of the file.
  struct Wrap: Encodable {
    /// The part, in bytes of UTF-8.
    let start: Int
    let end: Int
    let prefix: String
    let suffix: String
  }
}
