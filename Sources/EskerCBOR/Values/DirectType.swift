import Foundation

/// The types that bypass their own conformances: those with a CBOR form of their own, and those that Codable's generic
/// containers handle element by element.
enum DirectType {
  case int, string, double, bool, bytes, ints, date, data, uuid, url, decimal, none

  /// Compares metatypes, most likely first.
  @inline(__always)
  init<T>(_ type: T.Type) {
    if type == Int.self {
      self = .int
    } else if type == String.self {
      self = .string
    } else if type == Date.self {
      self = .date
    } else if type == Double.self {
      self = .double
    } else if type == Bool.self {
      self = .bool
    } else if type == [Int].self {
      self = .ints
    } else if type == [UInt8].self {
      self = .bytes
    } else if type == UUID.self {
      self = .uuid
    } else if type == Data.self {
      self = .data
    } else if type == URL.self {
      self = .url
    } else if type == Decimal.self {
      self = .decimal
    } else {
      self = .none
    }
  }
}

/// Returns the same value as type `B`, which has been found to be `A`.
///
/// Safety: the caller has compared the two types, or asked ``DirectType``, which does. The optimizer cannot know the
/// outcome, and a cast that compares again takes longer than writing a number.
@inlinable
@inline(__always)
func same<A, B>(_ value: A, as type: B.Type = B.self) -> B {
  assert(A.self == B.self, "another type")
  return unsafe unsafeBitCast(value, to: type)
}
