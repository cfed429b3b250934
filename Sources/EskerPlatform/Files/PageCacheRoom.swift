import CEskerShims

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension PageCache {
  /// How many bytes of files the system could hold for this process: memory that is free or has pages of files in it, within the
  /// limits of the process's control groups. nil if the system does not say.
  ///
  /// - Parameter root: where `/proc` and `/sys` are.
  /// - Complexity: reads a few small files that the kernel makes up, which takes a tenth of a millisecond.
  public static func room(root: String = "") -> Int? {
    LockRank.expectIOAllowed()
    #if canImport(Darwin)
      let room = esker_page_cache_room()
      return room > 0 ? Int(clamping: room) : nil
    #else
      guard let memory = SmallFile("\(root)/proc/meminfo"), let total = memory.number(after: "MemTotal:"),
        let available = memory.number(after: "MemAvailable:")
      else { return nil }
      var groups = MemoryGroups(mount: "\(root)/sys/fs/cgroup", total: total << 10)
      if let membership = SmallFile("\(root)/proc/self/cgroup") { groups.look(at: membership) }
      return min(available << 10, groups.room)
    #endif
  }
}

#if !canImport(Darwin)
  /// The control groups that limit the memory of a process. Each is a directory of small files.
  private struct MemoryGroups {
    let mount: String
    /// The memory of the machine. A group that may use as much is short of nothing that the machine is not.
    let total: Int
    /// What files can take within the limits of all groups; `Int.max` if there is none.
    private(set) var room = Int.max

    init(mount: String, total: Int) {
      self.mount = mount
      self.total = total
    }

    /// Looks at the groups of a process. Each line has the number of a hierarchy, its controllers, and the path of a group in it.
    mutating func look(at membership: SmallFile) {
      var start = 0
      while start < membership.count {
        let end = membership.end(of: "\n", from: start)
        let controllers = membership.end(of: ":", from: start) + 1
        let path = membership.end(of: ":", from: controllers) + 1
        if path <= end {
          let isUnified = membership.has("0::", at: start)
          var word = controllers
          while !isUnified, word < path, !membership.has("memory,", at: word), !membership.has("memory:", at: word) {
            word = membership.end(of: ",", from: word) + 1
          }
          if word < path { lookUpwards(from: membership.text(path..<end), isUnified) }
        }
        start = end + 1
      }
    }

    /// Looks at a group, and at those that it is in. In a container the mount may show what is below its own group only, while the path
    /// names that.
    private mutating func lookUpwards(from path: String, _ isUnified: Bool) {
      var path = path
      while true {
        if path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        if isUnified {
          look(in: mount + path)
          look(in: "\(mount)/unified\(path)")
        } else {
          lookAsBefore(in: "\(mount)/memory\(path)")
        }
        guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
        path = String(path[..<end])
      }
    }

    /// By the present interface.
    private mutating func look(in directory: String) {
      let most = SmallFile("\(directory)/memory.max")?.number ?? .max
      let high = SmallFile("\(directory)/memory.high")?.number ?? .max
      note(min(most, high), in: directory, "memory.current", "inactive_file", "active_file")
    }

    /// By the one before.
    private mutating func lookAsBefore(in directory: String) {
      let most = SmallFile("\(directory)/memory.limit_in_bytes")?.number ?? .max
      note(most, in: directory, "memory.usage_in_bytes", "total_inactive_file", "total_active_file")
    }

    private mutating func note(
      _ limit: Int,
      in directory: String,
      _ usage: String,
      _ inactive: String,
      _ active: String
    ) {
      guard limit < total, let usage = SmallFile("\(directory)/\(usage)")?.number,
        let statistics = SmallFile("\(directory)/memory.stat")
      else { return }
      let files = (statistics.number(after: inactive) ?? 0) + (statistics.number(after: active) ?? 0)
      room = min(room, max(0, limit - max(0, usage - files)))
    }
  }

  /// A small file that the kernel makes up. It goes by bytes, one by one: an opening waits for it, and whatever is more general takes
  /// longer than to read the file.
  private struct SmallFile {
    private let bytes: [UInt8]

    /// nil if it cannot be read.
    init?(_ path: String) {
      // Safety: the path is kept during the call.
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      // Safety: the buffer is as long as the call is told, which writes no more than it returns.
      bytes = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
        count = max(0, unsafe read(descriptor, buffer.baseAddress, buffer.count))
      }
    }

    var count: Int { bytes.count }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    func has(_ text: String, at position: Int) -> Bool {
      var position = position
      for byte in text.utf8 {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
      }
      return true
    }

    /// Where the next such character is, or the end.
    func end(of mark: Unicode.Scalar, from start: Int) -> Int {
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: mark) { end += 1 }
      return end
    }

    /// The number that it begins with; nil if there is none, as in "max".
    var number: Int? { number(at: 0) }

    /// The number behind a name at the beginning of a line.
    func number(after name: String) -> Int? {
      var start = 0
      while start < bytes.count {
        var position = start + name.utf8.count
        if has(name, at: start), position < bytes.count, bytes[position] == UInt8(ascii: " ") {
          while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
          return number(at: position)
        }
        start = end(of: "\n", from: start) + 1
      }
      return nil
    }

    private func number(at start: Int) -> Int? {
      // So that figures can be added, and bytes be made of them.
      let most = Int.max >> 12
      var (number, position) = (0, start)
      while position < bytes.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[position] {
        number = number > most / 10 ? most : number * 10 + Int(bytes[position] - UInt8(ascii: "0"))
        position += 1
      }
      return position > start ? number : nil
    }
  }
#endif
