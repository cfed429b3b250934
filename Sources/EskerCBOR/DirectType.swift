import Foundation

/// The types that are written and read without asking their conformances: those that have a form of their own, and those
/// that Codable's generic containers ask for one by one.
enum DirectType {
  case int, string, double, bool, bytes, ints, date, data, uuid, url, decimal, none

  /// Compares metatypes, in the order in which they are likely.
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

/// The same value under the type `B`, which has been found to be the type `A`.
///
/// Safety: the caller has compared the two types, or asked ``DirectType``, which does. The optimizer cannot know the
/// outcome, and a cast that compares again takes longer than writing a number.
@inline(__always)
func same<A, B>(_ value: A, as type: B.Type = B.self) -> B {
  assert(A.self == B.self, "another type")
  return unsafe unsafeBitCast(value, to: type)
}
