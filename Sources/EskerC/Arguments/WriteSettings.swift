import CEsker
import EskerLog

/// How a write is done, of what a caller passes as `esker_write_options`.
struct WriteSettings {
  var durability: Durability?
  var expiry: Expiry?

  /// Safety: the caller keeps the struct; see `read`.
  @inline(__always)
  init(_ options: UnsafePointer<esker_write_options>?) throws {
    guard unsafe options != nil else { return }
    self = try unsafe WriteSettings(read(options, esker_write_options()))
  }

  private init(_ options: esker_write_options) throws {
    durability = try Durability(options.durability, options.durability_period_ms)
    expiry = try Expiry(options.expiry, options.expiry_ms)
  }
}

extension Durability {
  /// The durability of that number; nil for the default.
  init?(_ number: Int32, _ milliseconds: Int64) throws {
    switch UInt32(bitPattern: number) {
    case ESKER_DURABILITY_DEFAULT.rawValue: return nil
    case ESKER_DURABILITY_BUFFERED.rawValue: self = .buffered
    case ESKER_DURABILITY_SYNCED.rawValue: self = .synced
    case ESKER_DURABILITY_PERIODIC.rawValue:
      guard milliseconds > 0 else { throw CallFailure.invalid("durability_period_ms is \(milliseconds); at least 1") }
      self = .periodic(.milliseconds(milliseconds))
    default: throw CallFailure.invalid("\(number) is not an esker_durability")
    }
  }
}

extension Expiry {
  /// The expiry of that number; nil for the default.
  init?(_ number: Int32, _ milliseconds: Int64) throws {
    switch UInt32(bitPattern: number) {
    case ESKER_EXPIRY_DEFAULT.rawValue: return nil
    case ESKER_EXPIRY_NEVER.rawValue: self = .never
    case ESKER_EXPIRY_AFTER.rawValue: self = .after(.milliseconds(milliseconds))
    case ESKER_EXPIRY_AT.rawValue: self = .at(WallTime(millisecondsSince1970: milliseconds))
    default: throw CallFailure.invalid("\(number) is not an esker_expiry")
    }
  }

  /// The instant of a value's expiry as esker.h has it.
  var instant: Int64 {
    if case .at(let instant) = self { return instant.millisecondsSince1970 }
    return .max
  }
}
