public import Foundation

extension StorageRequest {
  /// Bytes as memory keeps them: `Data` itself hashes its first 80 bytes alone, so keys that begin alike would all be in one chain.
  public struct HeldData: Hashable, Sendable {
    @usableFromInline let data: Data

    @inlinable @inline(__always)
    init(_ data: Data) {
      self.data = data
    }

    /// That of all bytes.
    ///
    /// Safety: the span keeps the bytes during the call.
    @inlinable
    public func hash(into hasher: inout Hasher) {
      data.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
      }
    }
  }
}

extension Data {
  /// The bytes.
  @inlinable @inline(__always)
  public func held(by keys: KeyTransformer<Data>) -> StorageRequest.HeldData { StorageRequest.HeldData(self) }

  /// The bytes.
  public static func held(from bytes: RawSpan) -> StorageRequest.HeldData? { StorageRequest.HeldData(Data(bytes)) }

  /// The bytes.
  public static func key(of held: StorageRequest.HeldData, by keys: KeyTransformer<Data>) -> Data { held.data }
}
