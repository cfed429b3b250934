// Safety: the caller keeps what it passes until its call returns, as esker.h says; nothing is kept longer. Lengths are checked before
// anything is read.

import EskerLog

/// The bytes of a key. A length that no key has is refused before anything is read.
@inline(__always)
func key(_ start: UnsafeRawPointer?, _ length: Int) throws -> UnsafeRawBufferPointer {
  guard length >= 0, length <= LogStore.maximumKeyLength else { throw StoreError.keyTooLong(stated(length)) }
  return try unsafe bytes(start, length)
}

/// The bytes of a value.
@inline(__always)
func value(_ start: UnsafeRawPointer?, _ length: Int) throws -> UnsafeRawBufferPointer {
  guard length >= 0, length <= LogStore.maximumValueLength else { throw StoreError.valueTooLong(stated(length)) }
  return try unsafe bytes(start, length)
}

/// A length for a message: what C passes as a great number comes as a negative one.
private func stated(_ length: Int) -> Int { length < 0 ? .max : length }

@inline(__always)
private func bytes(_ start: UnsafeRawPointer?, _ length: Int) throws -> UnsafeRawBufferPointer {
  guard unsafe start != nil || length == 0 else {
    throw CallFailure.invalid("a key or value is NULL, and its length is not 0")
  }
  return unsafe UnsafeRawBufferPointer(start: start, count: length)
}

/// A path or a name.
func text(_ start: UnsafePointer<CChar>?, _ what: String) throws -> String {
  guard let start = unsafe start else { throw CallFailure.invalid("\(what) is NULL") }
  guard let text = unsafe String(validatingCString: start) else { throw CallFailure.invalid("\(what) is not UTF-8") }
  return text
}

/// Where a result goes, which must not be null.
@inline(__always)
func place<Result>(_ pointer: UnsafeMutablePointer<Result>?) throws -> UnsafeMutablePointer<Result> {
  guard let pointer = unsafe pointer else { throw CallFailure.invalid("a pointer for a result is NULL") }
  return unsafe pointer
}

/// A field that is 0 for no and 1 for yes.
func flag(_ field: UInt8, _ name: String) throws -> Bool {
  guard field <= 1 else { throw CallFailure.invalid("\(name) is \(field), and must be 0 or 1") }
  return field == 1
}
