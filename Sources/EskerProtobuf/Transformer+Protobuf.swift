#if Protobuf
  public import Esker
  public import SwiftProtobuf

  /// Messages of Protocol Buffers as values.
  ///
  /// ```swift
  /// let events = try store.storage("events", transformer: Transformer<Event>.protobuf)
  /// ```
  ///
  /// Bytes that are not such a message come out as `StorageError.decoding`, with the key, the view and a
  /// ``ProtobufMismatch``, and stay as they are.
  extension Transformer where Value: Message {
    /// The binary form, as every implementation of Protocol Buffers writes and reads it. Fields that this program's schema does
    /// not have are kept and written again.
    ///
    /// The form does not name its type, and messages of two schemas may look alike: ``protobuf(unknownFields:)`` with `.refused`
    /// takes only what is known in full, ``protobufAny`` only what was written as this very type.
    public static var protobuf: Transformer { protobuf(unknownFields: .kept) }

    /// The binary form, with a rule for fields that this program's schema does not have.
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

    /// The JSON form of Protocol Buffers, with the names of the schema. A value that JSON cannot write, such as a NaN in a
    /// `google.protobuf.Value`, and a field that this program's schema does not have, are refused.
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

    /// The binary form within a `google.protobuf.Any`, which names the type: a message of another type is refused with both
    /// names. Takes the bytes of the name more for each value.
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

  /// What becomes of fields that a program's schema does not have.
  public enum UnknownFields: Hashable, Sendable {
    /// They are kept with the message and written again: a newer program's fields survive an older one.
    case kept
    /// The message is refused: what is read is known in full.
    case refused
  }

  /// Why bytes are not the message that a storage expects.
  public enum ProtobufMismatch: Error, Sendable, CustomStringConvertible {
    /// They cannot be read as a message of that type at all.
    case malformed(message: String, underlying: any Error)
    /// They have fields, of that many bytes, that the type does not have.
    case unknownFields(message: String, bytes: Int)
    /// They say that they are another message.
    case otherMessage(expected: String, found: String)

    /// What is wrong, in one line.
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
