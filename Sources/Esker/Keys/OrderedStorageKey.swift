public import Foundation

/// A key whose order its bytes keep, so that storages can be read in order: what is less comes first as bytes, too.
///
/// The integers, `Double`, `Bool`, `String` (by its UTF-8), `UUID`, `Date`, `Data` and `[UInt8]` are, and a ``CompositeKey`` of such parts. A
/// key of your own whose raw value is one of them needs no more than the conformance:
///
/// ```swift
/// struct PlayerID: RawRepresentable, OrderedStorageKey { let rawValue: Int }
/// ```
///
/// Keys as JSON have no order: make them of parts instead.
public protocol OrderedStorageKey: StorageKey {}

extension Int: OrderedStorageKey {}
extension Int8: OrderedStorageKey {}
extension Int16: OrderedStorageKey {}
extension Int32: OrderedStorageKey {}
extension Int64: OrderedStorageKey {}
extension UInt: OrderedStorageKey {}
extension UInt8: OrderedStorageKey {}
extension UInt16: OrderedStorageKey {}
extension UInt32: OrderedStorageKey {}
extension UInt64: OrderedStorageKey {}
extension Int128: OrderedStorageKey {}
extension UInt128: OrderedStorageKey {}
extension Double: OrderedStorageKey {}
extension Bool: OrderedStorageKey {}
extension String: OrderedStorageKey {}
extension UUID: OrderedStorageKey {}
extension Date: OrderedStorageKey {}
extension Data: OrderedStorageKey {}
extension [UInt8]: OrderedStorageKey {}
extension CompositeKey: OrderedStorageKey where repeat each Part: OrderedStorageKey {}
