import Esker

/// Calls `body` for each key that was given, which returns whether there is a value.
///
/// - Throws: ``ToolError/notFound(_:)`` for a key without one; of several, each is reported, and ``ToolError/someAbsent`` is thrown
///   once all were done.
func forEachKey(
  _ names: [String],
  _ keys: [[UInt8]],
  isQuiet: Bool,
  _ body: ([UInt8]) throws -> Bool
) throws {
  var absent = 0
  for (name, key) in zip(names, keys) where try !body(key) {
    guard names.count > 1 else { throw ToolError.notFound(name) }
    absent += 1
    if !isQuiet { StandardError.report(ToolError.notFound(name).description) }
  }
  if absent > 0 { throw ToolError.someAbsent }
}
