#if Protobuf
  public import Esker
  public import SwiftProtobuf

  /// Messages of Protocol Buffers as values.
  ///
  /// ```swift
  /// let events = try store.storage("events", transformer: Transformer<Event>.protobuf)
  /// ```
  ///
  /// Bytes that are not such a message cause `StorageError.decoding`, with the key, the view and a ``ProtobufMismatch``, and
  /// are left as they are.
  extension Transformer where Value: Message {
    /// The binary form, as every implementation of Protocol Buffers writes and reads it. Fields unknown to this program's
    /// schema are kept and written back.
    ///
    /// The binary form does not name its type, and messages of two schemas may look alike: ``protobuf(unknownFields:)`` with
    /// `.refused` accepts only messages it knows in full, ``protobufAny`` only messages written as this very type.
    public static var protobuf: Transformer { protobuf(unknownFields: .kept) }

    /// The binary form, with a rule for fields unknown to this program's schema.
    public static func protobuf(unknownFields: UnknownFields) -> Transformer {
      let name = Value.protoMessageName
      return Transformer(
        id: "protobuf:\(name)",
        encode: { message in try message.serializedBytes() as [UInt8] },
        decode: { bytes in
          let message: Value
          do {
            message = try Value(serializedBytes: bytes.copied())
          } catch {
            throw ProtobufMismatch.malformed(message: name, underlying: error)
          }
          if unknownFields == .refused, !message.unknownFields.data.isEmpty {
            throw ProtobufMismatch.unknownFields(message: name, bytes: message.unknownFields.data.count)
          }
          return message
        }
      )
    }

    /// The JSON form of Protocol Buffers, with the schema's field names. Rejects values that JSON cannot represent, such as
    /// a NaN in a `google.protobuf.Value`, and fields unknown to this program's schema.
    public static var protobufJSON: Transformer {
      let name = Value.protoMessageName
      return Transformer(
        id: "protobuf-json:\(name)",
        encode: { message in try message.jsonUTF8Bytes() as [UInt8] },
        decode: { bytes in
          do {
            return try Value(jsonUTF8Bytes: bytes.copied())
          } catch {
            throw ProtobufMismatch.malformed(message: name, underlying: error)
          }
        }
      )
    }

    /// The binary form within a `google.protobuf.Any`, which names the type: a message of another type is rejected, with
    /// both names in the error. Each value takes additional space for the name.
    public static var protobufAny: Transformer {
      let name = Value.protoMessageName
      let outer = Transformer<Google_Protobuf_Any>.protobuf
      return Transformer(
        id: "protobuf-any:\(name)",
        encode: { message in try outer.encode(try Google_Protobuf_Any(message: message)) },
        decode: { bytes in
          let any = try outer.decode(bytes)
          guard any.isA(Value.self) else {
            throw ProtobufMismatch.otherMessage(
              expected: name,
              found: String(any.typeURL.split(separator: "/").last ?? "")
            )
          }
          do {
            return try Value(unpackingAny: any)
          } catch {
            throw ProtobufMismatch.malformed(message: name, underlying: error)
          }
        }
      )
    }
  }

  /// What to do with fields unknown to the program's schema.
  public enum UnknownFields: Hashable, Sendable {
    /// They are kept with the message and written back: a newer program's fields survive an older one.
    case kept
    /// The message is rejected, so every message read is known in full.
    case refused
  }

  /// Why bytes are not the message that a storage expects.
  public enum ProtobufMismatch: Error, Sendable, CustomStringConvertible {
    /// They cannot be parsed as a message of that type.
    case malformed(message: String, underlying: any Error)
    /// They contain unknown fields, with this many bytes.
    case unknownFields(message: String, bytes: Int)
    /// They name another message type.
    case otherMessage(expected: String, found: String)

    /// The error in one line.
    public var description: String {
      switch self {
      case .malformed(let message, let underlying): "the bytes are not a \(message): \(underlying)"
      case .unknownFields(let message, let bytes): "\(bytes) bytes belong to fields that \(message) does not have"
      case .otherMessage(let expected, let found):
        "the bytes are a \(found.isEmpty ? "nameless message" : found), not a \(expected)"
      }
    }
  }
#endif
