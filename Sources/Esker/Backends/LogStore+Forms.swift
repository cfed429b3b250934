internal import EskerFormat

extension LogStore {
  /// The keyspace called `name` for a view of it, whose forms are recorded where none are.
  ///
  /// - Parameters:
  ///   - keys: the id of the form of the view's keys.
  ///   - values: the id of the form of its values.
  ///   - isOwn: whether that is the form that the type has by itself. One of the caller's choice may differ from the recorded one.
  /// - Throws: ``StorageError/form(of:keyspace:recorded:asked:)``, ``StorageError/store(_:)``.
  @usableFromInline
  func keyspace(_ name: String, keys: String, values: String, isOwn: Bool) throws(StorageError) -> Keyspace {
    let asked = try KeyspaceForms(keys: keys, values: values, of: name)
    let keyspace = try translating { () throws(StoreError) in try self.keyspace(name, recording: asked) }
    try keyspace.check(asked, isOwn: isOwn)
    return keyspace
  }
}

extension Keyspace {
  /// Records the forms of a view where none are recorded, and throws if the form of its keys is another.
  @usableFromInline
  func admit(keys: String, values: String) throws(StorageError) {
    let asked = try KeyspaceForms(keys: keys, values: values, of: name)
    try translating { () throws(StoreError) in try record(asked) }
    try check(asked, isOwn: false)
  }

  /// Throws unless a view with these forms may be made.
  fileprivate func check(_ asked: KeyspaceForms, isOwn: Bool) throws(StorageError) {
    let recorded = forms
    if let form = recorded.keys, form != asked.keys {
      throw .form(of: .keys, keyspace: name, recorded: form, asked: asked.keys ?? "")
    }
    if isOwn, let form = recorded.values, form != asked.values {
      throw .form(of: .values, keyspace: name, recorded: form, asked: asked.values ?? "")
    }
  }
}

extension KeyspaceForms {
  /// The forms that ids of transformers stand for.
  ///
  /// A version is no part of them, since values of other versions are read too: `cbor` for `cbor@2`.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` for a form whose name is too long.
  fileprivate init(keys: String, values: String, of keyspace: String) throws(StorageError) {
    let (keys, values) = (withoutVersions(keys), withoutVersions(values))
    let length = max(keys.utf8.count, values.utf8.count)
    guard length <= Self.longestName else {
      let what = "record a form whose name has \(length) bytes, of which \(Self.longestName) are possible"
      throw .unsupported(operation: what, view: shownName(ofKeyspace: keyspace))
    }
    self.init(keys: keys, values: values)
  }
}

/// The id of a transformer without each `@` that a version follows.
private func withoutVersions(_ id: String) -> String {
  id.contains("@") ? id.replacing(/@[0-9]+/, with: "") : id
}
