#if Redis
  internal import EskerLog
  internal import EskerRemote

  extension RedisScript {
    /// A value and when it expires, in one step: for values without an envelope.
    static let readForeign = RedisScript(
      "return {redis.call('GET', KEYS[1]), redis.call('PEXPIRETIME', KEYS[1])}",
      isReadOnly: true
    )

    /// The same from any node, with its replication id and offset.
    static let readAnywhere = RedisScript(
      "return {redis.call('GET', KEYS[1]), redis.call('PEXPIRETIME', KEYS[1]), redis.call('INFO', 'replication')}",
      isReadOnly: true
    )

    /// Writes on a condition. Arguments: what to do, the condition, and by what is done
    /// - `set`: the value and its expiry, 0 for none;
    /// - `del`: nothing;
    /// - `touch`: the envelope from the expiry on, and the expiry;
    /// - `apply`: the value and its expiry, the intent's own version, and `del` if it is a removal. The condition is the base, or empty.
    ///
    /// What is found is told as `a` for nothing, `f` for something foreign, or `v` and the version; conditions are `x` for none, `p` for
    /// anything, or what has to be found. Gives 1 if it was done, 0 if it was refused and 2 if it had been done before, and what was found.
    static let write = RedisScript(
      """
      local key, what, condition = KEYS[1], ARGV[1], ARGV[2]
      local head = redis.call('GETRANGE', key, 0, 23)
      local found = 'a'
      if #head == 24 and string.sub(head, 1, 3) == '\\238\\75\\1' and string.byte(head, 4) < 4 then
        found = 'v' .. string.sub(head, 11)
      elseif #head > 0 or redis.call('EXISTS', key) == 1 then
        found = 'f'
      end
      local function set(value, expiry)
        if expiry == '0' then redis.call('SET', key, value) else redis.call('SET', key, value, 'PXAT', expiry) end
      end
      if what == 'apply' then
        local own, removes = 'v' .. ARGV[5], ARGV[6] == 'del'
        if found == own or (removes and found == 'a') then return {2, found} end
        if condition == '' or condition ~= found then
          if string.sub(found, 1, 1) ~= 'v' then return {0, found} end
          for index = 2, 15 do
            local left, right = string.byte(own, index), string.byte(found, index)
            if left < right then return {0, found} end
            if left > right then break end
          end
        end
        if removes then redis.call('DEL', key) else set(ARGV[3], ARGV[4]) end
        return {1, found}
      end
      if not (condition == 'x' or condition == found or (condition == 'p' and found ~= 'a')) then return {0, found} end
      if what == 'set' then
        set(ARGV[3], ARGV[4])
      elseif what == 'del' then
        redis.call('DEL', key)
      else
        if string.sub(found, 1, 1) ~= 'v' then return {0, found} end
        redis.call('SETRANGE', key, 4, ARGV[3])
        if ARGV[4] == '0' then redis.call('PERSIST', key) else redis.call('PEXPIREAT', key, ARGV[4]) end
      end
      return {1, found}
      """
    )
  }

  extension RemoteVersion {
    /// As in an envelope.
    var bytes: [UInt8] {
      var envelope: [UInt8] = []
      RemoteEnvelope(version: self).append(to: &envelope)
      return Array(envelope[RemoteEnvelope.versionRange])
    }
  }

  extension RemoteCondition {
    /// As the script has it.
    var code: [UInt8] {
      switch self {
      case .always: Array("x".utf8)
      case .absent: Array("a".utf8)
      case .present: Array("p".utf8)
      case .version(let version): Array("v".utf8) + version.bytes
      }
    }
  }

  extension RemoteFound {
    /// As the script has it.
    var code: [UInt8] {
      switch self {
      case .absent: Array("a".utf8)
      case .foreign: Array("f".utf8)
      case .version(let version): Array("v".utf8) + version.bytes
      }
    }

    /// From what the script says.
    init?(code: [UInt8]) {
      switch code.first {
      case UInt8(ascii: "a"): self = .absent
      case UInt8(ascii: "f"): self = .foreign
      case UInt8(ascii: "v") where code.count == 15:
        // The envelope reads versions; the bytes before it do not matter.
        let bytes = RemoteEnvelope.magic + [UInt8](repeating: 0, count: 7) + code.dropFirst()
        guard let envelope = bytes.withBytes({ RemoteEnvelope($0) }) else { return nil }
        self = .version(envelope.version)
      default: return nil
      }
    }

    /// From the first bytes of what is stored.
    init(head: [UInt8]) {
      if let envelope = head.withBytes({ RemoteEnvelope($0) }) {
        self = .version(envelope.version)
      } else {
        self = head.isEmpty ? .absent : .foreign
      }
    }
  }
#endif
