import CEsker
import EskerLog

/// How a store is opened, of what a caller passes as `esker_options`.
struct OpenSettings {
  /// Whether a store is made.
  enum Creation {
    case ifMissing, never, always
  }

  var options = Options()
  var isInMemory = false
  var creation = Creation.ifMissing

  /// Safety: the caller keeps the struct; see `read`.
  init(_ pointer: UnsafePointer<esker_options>?) throws {
    let given = try unsafe read(pointer, esker_options())
    guard unsafe given.reserved == 0 else { throw CallFailure.invalid("a reserved field is not 0") }
    isInMemory = try unsafe flag(given.in_memory, "in_memory")
    creation = try unsafe Creation(given.create)
    options.readOnly = try unsafe flag(given.read_only, "read_only")
    options.merge.isAutomatic = try unsafe !flag(given.manual_merge, "manual_merge")
    options.durability = try unsafe Durability(given.durability, given.durability_period_ms)
    options.defaultExpiry = try unsafe Expiry(given.default_expiry, given.default_expiry_ms)
    options.sharing = try unsafe Options.Sharing(given.sharing, given.sharing_patience_ms)
    options.verification = try unsafe Options.Verification(given.verification)
    options.compression = try unsafe Options.Compression(given.compression, given.compression_level)
    options.segmentSize = unsafe given.segment_size == 0 ? nil : Int(clamping: given.segment_size)
    options.capacity = unsafe given.capacity == 0 ? nil : Int(clamping: given.capacity)
    if unsafe given.merge_bytes_per_second != 0 {
      options.merge.bytesPerSecond = unsafe Int(clamping: given.merge_bytes_per_second)
    }
    options.onEvent = try unsafe EventHandler.handler(given.on_event, given.event_context)
  }
}

extension OpenSettings.Creation {
  fileprivate init(_ number: Int32) throws {
    switch UInt32(bitPattern: number) {
    case ESKER_CREATE_IF_MISSING.rawValue: self = .ifMissing
    case ESKER_CREATE_NEVER.rawValue: self = .never
    case ESKER_CREATE_ALWAYS.rawValue: self = .always
    default: throw CallFailure.invalid("\(number) is not an esker_create")
    }
  }
}

extension Options.Sharing {
  fileprivate init(_ number: Int32, _ patience: Int64) throws {
    guard patience >= 0 else { throw CallFailure.invalid("sharing_patience_ms is negative") }
    switch UInt32(bitPattern: number) {
    case ESKER_SHARING_EXCLUSIVE.rawValue: self = .exclusive
    case ESKER_SHARING_IN_TURN.rawValue: self = patience == 0 ? .inTurn() : .inTurn(patience: .milliseconds(patience))
    default: throw CallFailure.invalid("\(number) is not an esker_sharing")
    }
  }
}

extension Options.Verification {
  fileprivate init(_ number: Int32) throws {
    switch UInt32(bitPattern: number) {
    case ESKER_VERIFICATION_ONCE_IN_MEMORY.rawValue: self = .onceInMemory
    case ESKER_VERIFICATION_EVERY_READ.rawValue: self = .everyRead
    case ESKER_VERIFICATION_OPENING_ONLY.rawValue: self = .openingOnly
    default: throw CallFailure.invalid("\(number) is not an esker_verification")
    }
  }
}

extension Options.Compression {
  /// The compression of that number; nil for the default.
  fileprivate init?(_ number: Int32, _ level: Int32) throws {
    guard (0...12).contains(level) else { throw CallFailure.invalid("compression_level is \(level); from 0 to 12") }
    switch UInt32(bitPattern: number) {
    case ESKER_COMPRESSION_DEFAULT.rawValue: return nil
    case ESKER_COMPRESSION_OFF.rawValue: self = .off
    case ESKER_COMPRESSION_LZ4.rawValue: self = level == 0 ? .lz4 : .lz4(level: Int(level))
    default: throw CallFailure.invalid("\(number) is not an esker_compression")
    }
  }
}
