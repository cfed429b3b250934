import Esker

/// The keyspaces that records are loaded into.
struct LoadTarget {
  let store: LogStore
  /// The keyspace for records that name none.
  let usual: Keyspace

  /// The names of what keys and values are.
  struct Forms: Hashable {
    let keys: String
    let values: String
  }

  private var named: [String: Keyspace] = [:]
  /// The forms that records of a keyspace named, which it is known to have.
  private var admitted: [String: Forms] = [:]

  init(_ usual: Keyspace) {
    self.usual = usual
    store = usual.store
  }

  /// The keyspace with this name, created if necessary; the usual one for nil or an empty name.
  ///
  /// - Parameter forms: What its keys and values are, which is recorded if nothing is.
  /// - Throws: ``ToolError/otherForms(keyspace:recorded:given:)`` if it records others.
  mutating func keyspace(_ name: String?, _ forms: Forms?) throws -> Keyspace {
    let keyspace = try keyspace(name)
    if let forms, admitted[keyspace.name] != forms {
      try keyspace.admit(forms)
      admitted[keyspace.name] = forms
    }
    return keyspace
  }

  private mutating func keyspace(_ name: String?) throws(StoreError) -> Keyspace {
    guard let name, !name.isEmpty else { return usual }
    if let known = named[name] { return known }
    let keyspace = try store.keyspace(name)
    named[name] = keyspace
    return keyspace
  }
}

extension Keyspace {
  /// Records what keys and values are if nothing is recorded.
  ///
  /// - Throws: ``ToolError/otherForms(keyspace:recorded:given:)`` if something else is.
  func admit(_ forms: LoadTarget.Forms) throws {
    for (recorded, given) in [(keyForm, forms.keys), (valueForm, forms.values)] {
      if let recorded, recorded != given {
        throw ToolError.otherForms(keyspace: name, recorded: recorded, given: given)
      }
    }
    guard keyForm == nil || valueForm == nil else { return }
    // A view records the forms by their names; it reads and writes nothing here.
    _ = try store.storage(
      keyspace: name,
      keys: KeyTransformer<[UInt8]>(id: forms.keys, encode: { $0 }, decode: { [UInt8](copying: $0) }),
      values: Transformer<[UInt8]>(id: forms.values, encode: { $0 }, decode: { [UInt8](copying: $0) })
    )
  }
}
