/// An encoder that writes nothing: what remains is the cost of Codable's own containers and calls.
struct EmptyEncoder: Encoder, SingleValueEncodingContainer, UnkeyedEncodingContainer {
  final class State {}

  struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let state: State
    var codingPath: [any CodingKey] { [] }
    func encodeNil(forKey key: Key) throws {}
    func encode(_ value: Bool, forKey key: Key) throws {}
    func encode(_ value: String, forKey key: Key) throws {}
    func encode(_ value: Double, forKey key: Key) throws {}
    func encode(_ value: Int, forKey key: Key) throws {}
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try value.encode(to: EmptyEncoder(state: state)) }
    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedEncodingContainer<N> {
      KeyedEncodingContainer(Keyed<N>(state: state))
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { EmptyEncoder(state: state) }
    func superEncoder() -> any Encoder { EmptyEncoder(state: state) }
    func superEncoder(forKey key: Key) -> any Encoder { EmptyEncoder(state: state) }
  }

  static let state = SharedState()

  struct SharedState: @unchecked Sendable { let state = State() }

  static func run<T: Encodable>(_ value: T) throws { try value.encode(to: EmptyEncoder(state: state.state)) }

  let state: State
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  var count: Int { 0 }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed(state: state))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }
  func encodeNil() throws {}
  func encode(_ value: Bool) throws {}
  func encode(_ value: String) throws {}
  func encode(_ value: Double) throws {}
  func encode(_ value: Int) throws {}
  func encode<T: Encodable>(_ value: T) throws { try value.encode(to: self) }
  func nestedContainer<N: CodingKey>(keyedBy type: N.Type) -> KeyedEncodingContainer<N> {
    KeyedEncodingContainer(Keyed<N>(state: state))
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { self }
}
