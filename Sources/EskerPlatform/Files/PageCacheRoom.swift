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
      guard let available = available(text("\(root)/proc/meminfo")) else { return nil }
      return groups(text("\(root)/proc/self/cgroup"), under: "\(root)/sys/fs/cgroup").map(\.room).reduce(available, min)
    #endif
  }
}

#if !canImport(Darwin)
  /// A control group that limits memory: a directory of small files.
  private struct ControlGroup {
    let directory: String
    /// The names of the files and of the figures in them, which differ between the two versions of the interface.
    let isUnified: Bool

    /// What files can take within the group; `Int.max` if it has no limit.
    var room: Int {
      let limits = isUnified ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"]
      guard let limit = limits.compactMap(figure).min(),
        let usage = figure(isUnified ? "memory.current" : "memory.usage_in_bytes"),
        let statistics = text("\(directory)/memory.stat")
      else { return .max }
      let prefix = isUnified ? "" : "total_"
      let files = ["inactive_file", "active_file"].reduce(0) { $0 + (value(of: prefix + $1, in: statistics) ?? 0) }
      return max(0, limit - max(0, usage - files))
    }

    private func figure(_ name: String) -> Int? {
      guard let text = text("\(directory)/\(name)") else { return nil }
      // "max" is no number. A limit that was never set is one nobody reaches.
      return Int(text.prefix { $0.isNumber })
    }
  }

  /// The groups of a process and those that they are in.
  private func groups(_ membership: String?, under mount: String) -> [ControlGroup] {
    var groups: [ControlGroup] = []
    for line in (membership ?? "").split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let isUnified = fields[0] == "0" && fields[1].isEmpty
      guard isUnified || fields[1].split(separator: ",").contains("memory") else { continue }
      var names = fields[2].split(separator: "/")
      // In a container the mount may show what is below its own group only, while the path names that.
      while true {
        let path = names.map { "/\($0)" }.joined()
        for mount in isUnified ? [mount, "\(mount)/unified"] : ["\(mount)/memory"] {
          groups.append(ControlGroup(directory: mount + path, isUnified: isUnified))
        }
        if names.popLast() == nil { break }
      }
    }
    return groups
  }

  /// Memory that is free or can be made free without swapping, according to `/proc/meminfo`.
  private func available(_ information: String?) -> Int? {
    guard let kilobytes = value(of: "MemAvailable:", in: information ?? "") else { return nil }
    return kilobytes * 1024
  }

  /// The number after a name at the beginning of a line. Goes by bytes: characters would take a millisecond.
  private func value(of name: String, in text: String) -> Int? {
    let (space, newline) = (UInt8(ascii: " "), UInt8(ascii: "\n"))
    for line in text.utf8.split(separator: newline) where line.starts(with: name.utf8) {
      let rest = line.dropFirst(name.utf8.count)
      if rest.first == space { return Int(Substring(rest.drop { $0 == space }.prefix { $0 != space })) }
    }
    return nil
  }

  /// The contents of a small file; nil if it cannot be read.
  private func text(_ path: String) -> String? {
    // Safety: the path is kept during the call.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Safety: the buffer is as long as the call is told, which writes no more than it returns.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
      count = max(0, unsafe read(descriptor, buffer.baseAddress, buffer.count))
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
#endif
