internal import Esker
internal import EskerMemory

/// What is known of a tag, besides its version.
struct TagMark: Sendable {
  /// When the version was learnt, as one of `StorageRequest.nextMoment()`.
  let moment = StorageRequest.nextMoment()
}

/// Whether what has tags may be served.
@usableFromInline
enum TagValidity: Sendable {
  /// All tags are trusted and have their versions.
  case valid
  /// One of them is trusted and has another version.
  case invalid
  /// One of them is not trusted.
  case unknown
}

/// What is written has as tags.
@usableFromInline
final class TagScope: Sendable {
  let names: [String]
  /// When what is written began to be made; 0: with each call, or as the call says.
  let began: UInt64

  init(_ names: [String], began: UInt64) {
    self.names = names
    self.began = began
  }
}

/// The tags of one prefix: the keys of a storage whose entries are versions and nothing else.
///
/// So tags are read, kept, told of and written as all keys are, by the same rules. A value lists its tags with the versions that they
/// had before it began to be made, and is valid only as long as each of them is trusted and has that version: to make all values
/// of a tag invalid takes one write. A tag that the remote store has lost gets a version that no tag ever had.
struct RemoteTags: Sendable {
  static let name = "#tag"
  static let limits = MemoryLimits(count: 1 << 16)
  static let values = Transformer<TagMark>(id: "esker.tag") { _ in
    []
  } decode: { _ in
    TagMark()
  }

  private let view: RemoteView<String, TagMark>

  init(_ view: RemoteView<String, TagMark>) { self.view = view }

  /// What makes everything invalid that a storage of that name has written. Users' names do not begin like that.
  static func all(of name: String) -> String { "*\(name)" }

  /// Names of tags that users may give.
  static func checked(_ names: [String], _ view: String) throws(StorageError) -> [String] {
    guard names.count < RemoteTag.countLimit else { throw .unsupported(operation: "have so many tags", view: view) }
    for name in names where !(1...RemoteTag.nameLimit ~= name.utf8.count) || name.utf8.first == UInt8(ascii: "*") {
      throw .unsupported(operation: "have a tag \"\(name)\"", view: view)
    }
    return names
  }

  // MARK: What is known

  /// What is held of a tag, and whether it is trusted.
  private func held(_ name: String, at now: RemoteInstant) -> (copy: HeldCopy<TagMark>, isTrusted: Bool)? {
    let held = name.held(by: view.keys)
    if let copy = view.trusted(held, at: now) { return (copy, true) }
    return view.cache.look(held).map { ($0.value, false) }
  }

  /// Whether tags have their versions, as far as that is known without asking.
  func standing(of tags: [RemoteTag], at now: RemoteInstant) -> TagValidity {
    var standing = TagValidity.valid
    for tag in tags {
      guard let copy = view.trusted(tag.name.held(by: view.keys), at: now) else {
        standing = .unknown
        continue
      }
      if copy.version != tag.version { return .invalid }
    }
    return standing
  }

  /// Whether all these tags are there and trusted.
  func knows(_ names: [String], at now: RemoteInstant) -> Bool {
    names.allSatisfy { view.trusted($0.held(by: view.keys), at: now)?.version != nil }
  }

  /// How long ago tags were last known to have their versions, zero if nothing is known; nil if one is known to have changed.
  ///
  /// - Parameter isComplete: whether it is nil too if nothing is known of one.
  func age(of tags: [RemoteTag], at now: RemoteInstant, isComplete: Bool = false) -> Duration? {
    var age = Duration.zero
    for tag in tags {
      guard let (copy, isTrusted) = held(tag.name, at: now) else {
        if isComplete { return nil }
        continue
      }
      guard copy.version == tag.version, copy.changedAt == nil else { return nil }
      if !isTrusted { age = max(age, now.duration(since: view.endOfTrust(copy))) }
    }
    return age
  }

  /// Bytes that are others as soon as it is known that one of the tags has changed; no one else's while one of them is not known.
  func state(of names: [String]) -> [UInt8] {
    let now = view.core.now()
    return names.flatMap { name in
      var bytes = Array(name.utf8) + [0]
      if let copy = held(name, at: now)?.copy, copy.changedAt == nil, let version = copy.version {
        version.append(to: &bytes)
      } else {
        bytes.appendBigEndian(StorageRequest.nextMoment(), count: 8)
      }
      return bytes
    }
  }

  // MARK: Asking

  /// Asks for those that are not trusted, all together.
  private func prefetch(_ names: [String]) throws(StorageError) {
    let now = view.core.now()
    let unknown = names.filter { view.trusted($0.held(by: view.keys), at: now) == nil }
    guard unknown.count > 1 else { return }
    for name in unknown { _ = view.board(name, try view.held(name), try view.remote(name)) }
  }

  /// Whether all tags have their versions.
  nonisolated(nonsending) func areCurrent(
    _ tags: [RemoteTag],
    within limit: Duration? = nil
  ) async throws(StorageError) -> Bool {
    try prefetch(tags.map(\.name))
    for tag in tags {
      guard let version = try await found(tag.name, within: limit)?.version, version == tag.version else {
        return false
      }
    }
    return true
  }

  /// The versions that tags have now, each with the moment at which it was learnt. Those that there are not are made.
  nonisolated(nonsending) func current(
    _ names: [String]
  ) async throws(StorageError) -> [(tag: RemoteTag, moment: UInt64)] {
    try prefetch(names)
    var known: [(tag: RemoteTag, moment: UInt64)] = []
    for name in names {
      var entry = try await found(name)
      while entry?.version == nil {
        // Something foreign is replaced; otherwise who comes first makes it.
        _ = try await view.write(
          name,
          StorageRequest.Write(.set(TagMark()), if: entry == nil ? .absent : .always),
          [],
          began: 0
        )
        entry = try await found(name)
      }
      if let entry, let version = entry.version { known.append((RemoteTag(name, version), entry.value.moment)) }
    }
    return known
  }

  /// Gives a tag a version that it never had.
  nonisolated(nonsending) func invalidate(_ name: String) async throws(StorageError) {
    _ = try await view.write(name, StorageRequest.Write(.set(TagMark())), [], began: 0)
  }

  /// A tag's entry; without a version if what is there is foreign.
  private nonisolated(nonsending) func found(
    _ name: String,
    within limit: Duration? = nil
  ) async throws(StorageError) -> RemoteEntry<TagMark>? {
    do throws(StorageError) {
      return try await view.find(name, within: limit)
    } catch .decoding {
      return RemoteEntry(value: TagMark(), tier: .remote, age: .zero, isStale: false, expiry: .never, version: nil)
    }
  }
}

// MARK: Of a storage

extension RemoteView {
  /// What all that the storage writes has as tags.
  var tagNames: [String] { options.tags + (options.isClearable ? [RemoteTags.all(of: name)] : []) }

  /// Whether a copy that is trusted may be served.
  @usableFromInline
  func standing(of copy: HeldCopy<Value>, at now: RemoteInstant) -> TagValidity {
    guard case .tagged(let tagged) = copy.content, let tags else { return .valid }
    return tags.standing(of: tagged.tags, at: now)
  }

  /// Whether tags are known, so that what is written next has their versions of before.
  @usableFromInline
  func knows(_ scope: TagScope?) -> Bool { scope.map { tags?.knows($0.names, at: now) ?? true } ?? true }

  /// How long ago tags were last known to have their versions; nil if one is known to have changed.
  func age(of list: [RemoteTag], at now: RemoteInstant) -> Duration? {
    list.isEmpty ? .zero : tags?.age(of: list, at: now) ?? nil
  }

  /// Whether what was found is not made invalid by its tags.
  nonisolated(nonsending) func isValid(
    _ found: RemoteEntry<Value>?,
    within limit: Duration? = nil
  ) async throws(StorageError) -> Bool {
    guard let found, !found.tags.isEmpty, let tags else { return true }
    return try await tags.areCurrent(found.tags, within: limit)
  }

  /// The version of what is under a key although its tags have made it invalid; nil if there is nothing like that.
  nonisolated(nonsending) func invalidVersion(_ key: Key) async throws(StorageError) -> RemoteVersion? {
    let held = try held(key)
    let now = core.now()
    let found =
      if let copy = trusted(held, at: now) { entry(copy, isStale: false, at: now) } else {
        try await board(key, held, try remote(key, held)).result(within: nil, of: name)
      }
    guard let found, try await !isValid(found) else { return nil }
    return found.version
  }

  /// The tags of what is written now with a version: those of the storage, and those of the value that it replaces.
  ///
  /// A tag whose version was learnt only after the value had begun to be made may have changed meanwhile, so the value gets a version
  /// of the tag that never was: it is invalid from the beginning.
  nonisolated(nonsending) func tagList(
    _ names: [String],
    replacing base: [RemoteTag],
    began: UInt64,
    version: RemoteVersion
  ) async throws(StorageError) -> [RemoteTag] {
    guard let tags, !names.isEmpty else { return base }
    let others = names.filter { name in !base.contains { $0.isNamed(name) } }
    guard base.count + others.count <= RemoteTag.countLimit else {
      throw .unsupported(operation: "have so many tags", view: name)
    }
    let known = try await tags.current(others)
    return base + known.map { began != 0 && $0.moment > began ? RemoteTag($0.tag.name, version) : $0.tag }
  }
}
