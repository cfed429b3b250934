// Safety: the caller keeps a struct and what it points to until its call returns; see `read`.

import CEsker
import EskerLog

/// Which entries a cursor reads, of what a caller passes as `esker_range`.
struct RangeSettings {
  /// nil for all entries, in no order.
  var range: KeyRange?
  var order = KeyRange.Direction.ascending
  var keysOnly = false
  var limit = UInt64.max

  /// Keys are copied.
  init(_ pointer: UnsafePointer<esker_range>?) throws {
    guard unsafe pointer != nil else { return }
    let given = try unsafe read(pointer, esker_range())
    let (first, second, third, fourth) = unsafe given.reserved
    guard first | second | third | fourth == 0 else { throw CallFailure.invalid("a reserved field is not 0") }
    let excludesFrom = try unsafe flag(given.from_excluded, "from_excluded")
    let includesTo = try unsafe flag(given.to_included, "to_included")
    order = try unsafe flag(given.reverse, "reverse") ? .descending : .ascending
    keysOnly = try unsafe flag(given.keys_only, "keys_only")
    limit = unsafe given.limit == 0 ? .max : given.limit
    var range = KeyRange.all
    if let from = try unsafe bound(given.from) {
      range = unsafe excludesFrom ? range.after(from) : range.from(from)
    }
    if let to = try unsafe bound(given.to) {
      range = unsafe includesTo ? range.through(to) : range.upTo(to)
    }
    if let prefix = try unsafe bound(given.prefix) { range = unsafe range.prefix(prefix) }
    self.range = range
  }
}

extension RangeSettings {
  /// The keys of a range alone, for calls to which their order and number mean nothing.
  static func keys(_ pointer: UnsafePointer<esker_range>?) throws -> KeyRange {
    guard let range = try unsafe RangeSettings(pointer).keysAlone() else {
      throw CallFailure.invalid("the range is NULL")
    }
    return range
  }

  private func keysAlone() throws -> KeyRange? {
    guard order == .ascending, !keysOnly, limit == .max else {
      throw CallFailure.invalid("reverse, keys_only and limit of the range must be 0 here")
    }
    return range
  }
}

/// A key of a range; nil for none.
///
/// Safety: the caller keeps the bytes until its call returns.
private func bound(_ slice: esker_slice) throws -> UnsafeRawBufferPointer? {
  let bytes = try unsafe key(slice.data, slice.length)
  return unsafe bytes.baseAddress == nil ? nil : bytes
}
