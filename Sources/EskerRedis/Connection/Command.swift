#if Redis
  internal import EskerRemote

  /// What a request asks for. It is encoded when it is sent, into what else is sent then.
  enum Command: Sendable {
    case get
    /// Reads the envelope.
    case head
    case delete
    /// On any condition but a version.
    case set([UInt8], expiry: UInt64, RemoteCondition)
    /// Made by the caller, with its key.
    case made(RESPCommand)
  }

  extension Command {
    /// How many bytes it takes, give or take the prefix and what is always there.
    func size(_ key: RemoteKey) -> Int {
      switch self {
      case .get, .head, .delete: 32 + key.bytes.count
      case .set(let value, _, _): 64 + key.bytes.count + value.count
      case .made(let command): command.bytes.count
      }
    }

    /// Appends it to what is sent.
    ///
    /// - Parameter isWhole: With the text of the script that it calls.
    func encode(_ key: RemoteKey, behind prefix: [UInt8], isWhole: Bool, to output: inout RESPOutput) {
      switch self {
      case .get:
        output.append(Self.getBeginning)
        output.add(prefix, key.bytes)
      case .head:
        output.begin("GETRANGE", words: 4)
        output.add(prefix, key.bytes)
        output.add("0")
        output.add("23")
      case .delete:
        output.begin("DEL", words: 2)
        output.add(prefix, key.bytes)
      case .set(let value, let expiry, let condition):
        output.begin("SET", words: 3 + (expiry == 0 ? 0 : 2) + (condition == .always ? 0 : 1))
        output.add(prefix, key.bytes)
        output.add(value)
        if expiry != 0 {
          output.add("PXAT")
          output.add(expiry)
        }
        if condition == .absent { output.add("NX") }
        if condition == .present { output.add("XX") }
      case .made(let command): output.append(isWhole ? command.whole : command.bytes)
      }
    }

    private static let getBeginning = Array("*2\r\n$3\r\nGET\r\n".utf8)
  }
#endif
