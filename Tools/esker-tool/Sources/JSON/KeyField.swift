import ArgumentParser

/// The field whose text is a document's key: of the outermost object, or of objects in it, as in `_id.$oid`.
struct KeyField: ExpressibleByArgument {
  /// As it was given.
  let text: String
  /// The names on the way to it, as UTF-8; at least one.
  let names: [[UInt8]]

  init?(argument: String) {
    guard let path = ValuePath(argument), !path.steps.isEmpty else { return nil }
    var names: [[UInt8]] = []
    for step in path.steps {
      guard case .field(let name) = step else { return nil }
      names.append(name)
    }
    (text, self.names) = (argument, names)
  }

  /// A field of the outermost object, whatever its name.
  init(named name: String) {
    (text, names) = (name, [Array(name.utf8)])
  }
}
