/// The keyspace of the storage called `name` with that form of keys.
///
/// Keys that are text or bytes share the keyspace that has the very name, so that the tool and the engine's own calls find
/// them there. Any other form has a keyspace of its own, the name, `#` and the form: an integer key never collides with a
/// string of its spelling. A `#` of the name itself is doubled, so no two storages meet.
@usableFromInline
func keyspaceName(_ name: String, keys form: String) -> String {
  let escaped = name.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "##")
  return form == "utf8" || form == "bytes" ? escaped : "\(escaped)#\(form)"
}
