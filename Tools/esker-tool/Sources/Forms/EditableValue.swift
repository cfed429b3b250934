import Esker

/// A value as text that can be edited, and back.
struct EditableValue {
  /// Over several lines where it is CBOR.
  let text: String
  private let form: StoredForm
  private let version: UInt16?
  private let endsWithNewline: Bool

  /// Nil if the text would not make the same bytes again.
  init?(_ bytes: [UInt8], _ form: StoredForm) {
    let form = form == .raw ? .text : form
    let version = form.exactText(of: bytes) == nil ? StoredForm.version(of: bytes) : nil
    guard let text = form.exactText(of: version == nil ? bytes : Array(bytes.dropFirst(6))) else { return nil }
    self.form = form
    self.version = version
    self.text = form.containsCBOR ? ReadableJSON.text(of: text) ?? text : text
    endsWithNewline = text.hasSuffix("\n")
  }

  /// The value that edited text stands for; nil if it is not of the form.
  func bytes(of edited: String) -> [UInt8]? {
    var edited = edited
    // Editors end the last line, too.
    if !endsWithNewline, edited.hasSuffix("\n") { edited.removeLast() }
    guard let bytes = form.bytes(of: edited) else { return nil }
    return version.map { StoredForm.mark(ofVersion: $0) + bytes } ?? bytes
  }

  /// The lines that another value does not have, and those that only it has, in the order of the text.
  func difference(to new: EditableValue) -> String {
    let (old, new) = (lines(text), lines(new.text))
    let shorter = min(old.count, new.count)
    var (head, tail) = (0, 0)
    while head < shorter, old[head] == new[head] { head += 1 }
    while tail < shorter - head, old[old.count - 1 - tail] == new[new.count - 1 - tail] { tail += 1 }
    let (removed, added) = (Array(old[head..<old.count - tail]), Array(new[head..<new.count - tail]))
    // To find what is the same in between takes the square of the time.
    guard removed.count < 1000, added.count < 1000 else {
      return removed.map { "- \($0)\n" }.joined() + added.map { "+ \($0)\n" }.joined()
    }
    var (text, i, j) = ("", 0, 0)
    let change = added.difference(from: removed)
    let removals = Set(change.removals.map { Self.place($0) })
    let insertions = Set(change.insertions.map { Self.place($0) })
    while i < removed.count || j < added.count {
      if removals.contains(i) {
        text += "- \(removed[i])\n"
        i += 1
      } else if insertions.contains(j) {
        text += "+ \(added[j])\n"
        j += 1
      } else {
        (i, j) = (i + 1, j + 1)
      }
    }
    return text
  }

  private static func place(_ change: CollectionDifference<String>.Change) -> Int {
    switch change {
    case .insert(let place, _, _), .remove(let place, _, _): place
    }
  }

  private func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }
}
