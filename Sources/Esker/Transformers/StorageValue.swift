public import Foundation

/// A type with a form of its own as bytes, preferred to any `Codable` one.
public protocol StorageValue: Sendable {
  /// The form.
  static var transformer: Transformer<Self> { get }
}

extension StorageValue {
  @usableFromInline
  static var erasedTransformer: any Sendable { transformer }
}

extension StorageValue where Self: FixedWidthInteger & BitwiseCopyable {
  /// The bytes of the number in its own width, least significant first.
  @inlinable
  public static var transformer: Transformer<Self> { .littleEndian }
}

extension Int: StorageValue {}
extension Int8: StorageValue {}
extension Int16: StorageValue {}
extension Int32: StorageValue {}
extension Int64: StorageValue {}
extension UInt: StorageValue {}
extension UInt8: StorageValue {}
extension UInt16: StorageValue {}
extension UInt32: StorageValue {}
extension UInt64: StorageValue {}

extension Double: StorageValue {
  /// 8 bytes of IEEE 754, least significant first.
  public static var transformer: Transformer<Double> { .littleEndian }
}

extension Float: StorageValue {
  /// 4 bytes of IEEE 754, least significant first.
  public static var transformer: Transformer<Float> { .littleEndian }
}

extension Bool: StorageValue {
  /// One byte: 0 or 1.
  public static var transformer: Transformer<Bool> { .byte }
}

extension String: StorageValue {
  /// UTF-8.
  public static var transformer: Transformer<String> { .utf8 }
}

extension Array: StorageValue where Element == UInt8 {
  /// The bytes as they are.
  public static var transformer: Transformer<[UInt8]> { .bytes }
}

extension Data: StorageValue {
  /// The bytes as they are.
  public static var transformer: Transformer<Data> { .data }
}

extension Date: StorageValue {
  /// The date's own number, nothing lost.
  public static var transformer: Transformer<Date> { .exact }
}

extension UUID: StorageValue {
  /// The 16 bytes of the identifier.
  public static var transformer: Transformer<UUID> { .uuid }
}

extension URL: StorageValue {
  /// The absolute string, as UTF-8.
  public static var transformer: Transformer<URL> { .absoluteString }
}
