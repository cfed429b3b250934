// Safety: a struct of the caller's is read and written within the size that its first field gives it, which only the caller can know, and
// within that of the type. All of these types are of C: any bytes are a value.

/// The most that a struct of any version may have.
private let largestStruct = 4096

/// The size that a struct says it has.
@inline(__always)
private func size(at pointer: UnsafeRawPointer) throws -> Int {
  let size = unsafe pointer.loadUnaligned(as: Int.self)
  guard size >= MemoryLayout<Int>.size, size <= largestStruct else {
    throw CallFailure.invalid("a struct does not begin with its size: initialize it with the macro that ends in _INIT")
  }
  return size
}

/// A struct as this version knows it: one of an older caller has 0 in what is missing; one of a newer caller must have 0 in what is more.
/// Null is one in which everything is 0.
@inline(__always)
func read<Struct: BitwiseCopyable>(_ pointer: UnsafePointer<Struct>?, _ empty: Struct) throws -> Struct {
  guard let start = unsafe UnsafeRawPointer(pointer) else { return empty }
  let size = try unsafe size(at: start)
  let known = MemoryLayout<Struct>.size
  if size > known {
    let more = unsafe UnsafeRawBufferPointer(start: start + known, count: size - known)
    guard unsafe more.allSatisfy({ $0 == 0 }) else {
      throw CallFailure.invalid("a struct has fields that this version of Esker does not know")
    }
  }
  var result = empty
  unsafe withUnsafeMutableBytes(of: &result) { bytes in
    unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: start, count: min(size, known)))
  }
  return result
}

/// Fills in a struct as far as the caller knows it, but for its first field, the size.
@inline(__always)
func fill<Struct: BitwiseCopyable>(_ pointer: UnsafeMutablePointer<Struct>?, _ result: Struct) throws {
  let start = try unsafe UnsafeMutableRawPointer(place(pointer))
  let first = MemoryLayout<Int>.size
  let count = try unsafe min(size(at: start), MemoryLayout<Struct>.size) - first
  unsafe withUnsafeBytes(of: result) { bytes in
    guard let source = bytes.baseAddress else { return }
    unsafe (start + first).copyMemory(from: source + first, byteCount: count)
  }
}
