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
